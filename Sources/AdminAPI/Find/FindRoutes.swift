import APISupport
import AdminModel
import Accounts
import HTTPServer
import Ledger
import Links
import PlayerLifecycle
import RewardModel
import StorageCore
import TreeModel

/// What a text names, whatever it is.
enum FindRoutes {
  static let routes: [Route] = [.reading(AdminFind.find, by: find)]

  private static func find(_ call: RouteCall, query: AdminFind.Query) throws -> AdminFind.Hits {
    let text = trimmed(query.q)
    let namespace = try call.namespace()
    let account = try account(text, call)
    var hits = try call.read { snapshot in
      let search = NameSearch(namespace: namespace, snapshot: snapshot)
      var found: [AdminFind.Hit?] = [try search.player(text, of: call.services)]
      if let account {
        // Asked for by the address, the player has the account's uid.
        if found[0] == nil { found.append(try search.player(account.uid, of: call.services)) }
        found.append(AdminFind.Hit(account))
      }
      found.append(try search.event(text))
      found += try search.entries(text)
      found.append(try search.path(text))
      return found.compactMap(\.self)
    }
    // Links are kept in one namespace, where their players are.
    if let links = call.services.links, links.namespace == namespace {
      if let link = try links.record(text) { hits.append(AdminFind.Hit(link)) }
      if let link = try links.record(code: text) { hits.append(AdminFind.Hit(link, byCode: true)) }
    }
    return AdminFind.Hits(hits: hits)
  }

  /// Without the white space that comes along when a text is copied.
  private static func trimmed(_ text: String) -> String {
    let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
    let bytes = text.utf8.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
    return String(decoding: bytes, as: UTF8.self)
  }

  /// By the uid, else by the e-mail address; nil where no accounts are kept.
  private static func account(_ text: String, _ call: RouteCall) throws -> AccountRecord? {
    guard let accounts = call.services.accounts else { return nil }
    let project = try AccountRoutes.project(call)
    return try accounts.account(text, of: project) ?? accounts.account(.email(text.lowercased()), of: project)
  }
}

/// Looks a text up in a namespace: each kind of thing by one key of an index.
struct NameSearch {
  let namespace: NamespaceID
  let snapshot: any Snapshot

  /// The record of a player: where the tree says who referred them, else where their coins are.
  func player(_ uid: String, of services: AdminServices) throws -> AdminFind.Hit? {
    let referred = services.referrals?.referralPath.record(of: uid)
    let places =
      (referred.map { [$0] } ?? [])
      + PersonalPaths.records(of: uid, currencies: services.ledger?.declaredCurrencies ?? [])
    for place in places where try exists(place) {
      return AdminFind.Hit(kind: .player, id: uid, title: uid, detail: place.description)
    }
    return nil
  }

  func event(_ text: String) throws -> AdminFind.Hit? {
    guard let id = EventID(text), let event = try snapshot.event(in: namespace, id: id) else { return nil }
    return AdminFind.Hit(
      kind: .event, id: id.description, title: "\(event.kind.rawValue) \(id.path.path?.description ?? "?")",
      detail: "revision \(id.revision)")
  }

  /// The entry of a number, and the one that was made under a key.
  func entries(_ text: String) throws -> [AdminFind.Hit] {
    let number = Int64(text.utf8.first == UInt8(ascii: "#") ? text.dropFirst() : text[...])
    let numbered = try number.flatMap { try snapshot.entry(in: namespace, sequence: $0) }
    let keyed = try snapshot.entry(in: namespace, key: BusinessKey(text))
    return [numbered, keyed].compactMap { entry in
      guard let entry else { return nil }
      let transfer = entry.transfer
      return AdminFind.Hit(
        kind: .entry, id: "\(entry.sequence)",
        title: "\(transfer.amount) \(transfer.unit) from \(transfer.debit) to \(transfer.credit)",
        detail: "\(transfer.code), key \(transfer.key)")
    }
  }

  func path(_ text: String) throws -> AdminFind.Hit? {
    guard text.utf8.first == UInt8(ascii: "/"), let path = try? Path(parsing: text), try exists(path) else { return nil }
    return AdminFind.Hit(kind: .path, id: path.description, title: path.description)
  }

  private func exists(_ path: Path) throws -> Bool {
    try !snapshot.leaves(in: namespace, under: PathBytes(path), limit: 1).isEmpty
  }
}

extension AdminFind.Hit {
  fileprivate init(_ account: AccountRecord) {
    let state = [account.isAnonymous ? "anonymous" : nil, account.isDisabled ? "disabled" : nil].compactMap(\.self)
    let names = [account.email, account.displayName].compactMap(\.self)
    let detail = (names.dropFirst() + account.providerIDs + state).joined(separator: ", ")
    self.init(
      kind: .account, id: account.uid, title: names.first ?? account.uid, detail: detail.isEmpty ? nil : detail)
  }

  /// - `byCode`: whether the text is the link's invitation code.
  fileprivate init(_ link: LinkRecord, byCode: Bool = false) {
    let inviter = link.owner.map { " of \($0)" } ?? ""
    self.init(
      kind: .link, id: link.key, title: link.name ?? link.address,
      detail: byCode ? "invitation code \(link.code ?? "")\(inviter)" : link.longLink)
  }
}
