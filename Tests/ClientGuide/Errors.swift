import Doubloon
import Foundation

/// The page WhatCanGoWrong.
enum Errors {
  static func run() async throws {
    let place = Database.database().reference(withPath: "players/ann")
    await report { try await place.setValue(["no.dots": 1]) }
    await report { try await place.child("a#b").setValue(1) }
    await report { _ = try await place.queryOrderedByKey().queryOrderedByValue().getData() }
    await report { try await Auth.auth().signIn(withEmail: "nobody", password: "x") }

    let error: any Error = AuthErrorCode.weakPassword
    print("\((error as NSError).domain) \((error as NSError).code)")
  }

  static func report(_ body: () async throws -> Void) async {
    do {
      try await body()
    } catch DatabaseError.permissionDenied(let reason, let path) {
      print("the rules: \(reason) at \(path)")
    } catch DatabaseError.invalidData(let sentence), DatabaseError.invalidPath(let sentence) {
      print("a mistake of the game's: \(sentence)")
    } catch let error as DatabaseError {
      print("the database: \(error.localizedDescription)")
    } catch let error as AuthError where error.code == .networkError {
      print("later, when the device is online")
    } catch let error as AuthError {
      print("the account: \(error.message)")
    } catch let error as DynamicLinksError {
      print("the link: \(error.message)")
    } catch {
      print("something else: \(error.localizedDescription)")
    }
  }
}
