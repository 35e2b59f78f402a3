import AdminModel
import HTTPServer
import Invites
import Links
import NIOHTTP1
import Testing
import TreeModel

@testable import LinksAPI

/// Errors and warnings of links and invitations in the words of the Dynamic Links API.
@Suite struct LinksAPIErrorTests {
  static let errors: [(LinkError, Int, String, String)] = [
    (.invalid("m"), 400, "INVALID_ARGUMENT", ""), (.unknownLink("x"), 404, "NOT_FOUND", ""),
    (.unknownShortLink(key: "x"), 404, "NOT_FOUND", "unknown_link"), (.unknownInvitation(id: "x"), 404, "NOT_FOUND", ""),
    (.disabled, 404, "NOT_FOUND", "disabled"), (.duplicateIsDisabled(address: "x"), 400, "FAILED_PRECONDITION", "disabled"),
    (.suffixNeedsAdministrator, 403, "PERMISSION_DENIED", ""), (.suffixTaken("x"), 409, "ALREADY_EXISTS", ""),
    (.unreadableParameters, 400, "FAILED_PRECONDITION", ""), (.settingsInFile, 400, "FAILED_PRECONDITION", ""),
    (.badProof, 400, "INVALID_ARGUMENT", "bad_proof"), (.badReferrer, 400, "INVALID_ARGUMENT", "bad_proof"),
    (.unknownCode, 404, "NOT_FOUND", "bad_proof"), (.noInviter, 400, "FAILED_PRECONDITION", "no_inviter"),
    (.selfReferral, 400, "FAILED_PRECONDITION", "self_referral"),
    (.existingPlayer, 400, "FAILED_PRECONDITION", "existing_user"),
    (.alreadyReferred, 409, "ALREADY_EXISTS", "already_referred"), (.clickUsed, 409, "ALREADY_EXISTS", "used"),
    (.tooManyCodes, 429, "RESOURCE_EXHAUSTED", ""), (.referralPath("/x", reason: "y"), 400, "FAILED_PRECONDITION", ""),
    (.overloaded("m"), 429, "RESOURCE_EXHAUSTED", ""), (.unavailable("m"), 503, "UNAVAILABLE", ""),
    (.refused("m"), 400, "FAILED_PRECONDITION", ""),
  ]

  @Test(
    "each error of links has a status, a canonical code and a reason; administrators get 409 for preconditions",
    arguments: errors)
  func links(_ error: LinkError, _ status: Int, _ code: String, _ reason: String) throws {
    let response = LinksAPIError(error).response
    #expect(Int(response.status.code) == status)
    let body = try JSONParser.parse(response.body)["error"]
    #expect(body?["code"]?.int == Int64(status) && body?["status"]?.string == code)
    #expect(body?["message"]?.string == error.message && !error.message.isEmpty)
    #expect(body?["details"]?.array?.first?["reason"]?.string ?? "" == reason)
    #expect(response.headers.contains { $0.name == "Retry-After" } == (status == 429))
    let admin = LinksAPIError(error).apiError
    #expect(Int(admin.status.code) == (code == "FAILED_PRECONDITION" ? 409 : status))
    #expect(admin.code == (reason.isEmpty ? code.lowercased() : reason) && admin.message == error.message)
  }

  @Test(
    "each error of invitations has one too",
    arguments: [
      (InvitationError.invalid("m"), 400, "INVALID_ARGUMENT", ""),
      (.unknownCampaign("x", known: ["a"]), 404, "NOT_FOUND", ""), (.suppressed, 400, "FAILED_PRECONDITION", "suppressed"),
      (.tooManyFromSender(max: 1), 429, "RESOURCE_EXHAUSTED", ""),
      (.tooManyToRecipient(max: 1), 429, "RESOURCE_EXHAUSTED", ""), (.unavailable("m"), 503, "UNAVAILABLE", ""),
    ])
  func invitations(_ error: InvitationError, _ status: Int, _ code: String, _ reason: String) {
    let converted = LinksAPIError(error)
    #expect(converted.status.code == status && converted.status.rawValue == code && converted.reason == reason)
    #expect(converted.message == error.message && !error.message.isEmpty)
  }

  @Test(
    "warnings have the words of the Dynamic Links API",
    arguments: [
      (LinkWarning.unregisteredApp(.androidPackage, name: "a"), "NOT_IN_PROJECT_ANDROID_PACKAGE_NAME"),
      (.unregisteredApp(.iosBundle, name: "a"), "NOT_IN_PROJECT_IOS_BUNDLE_ID"),
      (.unregisteredApp(.ipadBundle, name: "a"), "NOT_IN_PROJECT_IPAD_BUNDLE_ID"),
      (.notANumber(.androidMinimumVersion), "NOT_INTEGER_ANDROID_PACKAGE_MIN_VERSION"),
      (.notANumber(.appStoreID), "NOT_NUMERIC_IOS_APP_STORE_ID"),
      (.noEffectWithoutApp(.androidMinimumVersion), "UNNECESSARY_ANDROID_PACKAGE_MIN_VERSION"),
      (.noEffectWithoutApp(.appStoreID), "UNNECESSARY_IOS_APP_STORE_ID"),
      (.noEffectWithoutApp(.iosScheme), "UNNECESSARY_IOS_URL_SCHEME"),
      (.otherStoreID("1", bundleID: "a", registered: "2"), "NOT_MATCHING_IOS_BUNDLE_ID_AND_STORE_ID"),
      (.notAWebURL(.socialImage), "BAD_URI_SCHEME_SOCIAL_IMAGE_LINK"), (.notAURL(.socialImage), "NOT_URI_SOCIAL_IMAGE_LINK"),
      (.notAWebURL(.androidFallback), "BAD_URI_SCHEME_ANDROID_FALLBACK_LINK"),
      (.notAURL(.iosFallback), "NOT_URI_IOS_FALLBACK_LINK"), (.notAURL(.ipadFallback), "NOT_URI_IPAD_FALLBACK_LINK"),
      (.notAURL(.desktopFallback), "NOT_URI_DESKTOP_FALLBACK_LINK"), (.notAURL(.androidLink), "NOT_URI_ANDROID_LINK"),
      (.sameAsLink, "UNNECESSARY_ANDROID_LINK"), (.unknownParameter("a"), "UNRECOGNIZED_PARAM"),
      (.deprecatedParameter("a"), "DEPRECATED_PARAM"), (.badDebug("2"), "BAD_DEBUG_PARAM"),
      (.tooLong(.socialTitle, bytesMax: 1000), "TOO_LONG_PARAM"), (.longLinkTooLong, "LINK_LENGTH_TOO_LONG"),
      (.fragment, "LINK_WITH_FRAGMENTS"),
    ])
  func warnings(_ warning: LinkWarning, _ code: String) {
    #expect(warning.code == code)
    let json: JSON = ["warningCode": .string(code), "warningMessage": .string(warning.message)]
    #expect(JSON(encoding: AdminLinks.Warning(warning)) == json && !warning.message.isEmpty)
  }
}
