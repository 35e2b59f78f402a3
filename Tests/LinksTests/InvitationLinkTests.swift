import FunctionsKit
import Links
import Testing

/// Links that functions put together: what they write is what links read.
struct InvitationLinkTests {
  private static func full() -> InvitationLink {
    var link = InvitationLink(to: "https://acme.test/play?a=1&b=ä #x", below: "https://go.acme.test/r/")
    link.android.packageName = "test.acme.app"
    link.android.minimumVersion = 125
    link.android.fallbackURL = "https://acme.test/android"
    link.android.link = "https://acme.test/al"
    link.ios.bundleID = "test.acme.ios"
    link.ios.appStoreID = "900100200"
    link.ios.customScheme = "acme-own"
    link.ios.fallbackURL = "https://acme.test/ios"
    link.ios.minimumVersion = "1.0.1"
    link.ios.iPadBundleID = "test.acme.pad"
    link.ios.iPadFallbackURL = "https://acme.test/pad"
    link.ios.skipsPreview = true
    link.desktopURL = "https://acme.test/desktop"
    link.social.title = "Come aboard, \"mate\"+"
    link.social.description = "50% more & better"
    link.social.imageURL = "https://acme.test/i.png"
    (link.campaign.source, link.campaign.medium, link.campaign.name) = ("a", "b", "c")
    (link.campaign.term, link.campaign.content) = ("d", "e")
    (link.appStoreCampaign.providerToken, link.appStoreCampaign.affiliateToken) = ("f", "g")
    (link.appStoreCampaign.campaignToken, link.appStoreCampaign.mediaType) = ("h", "8")
    return link
  }

  @Test("Every parameter that a link can have has its place in the builder, and is read back as it was said")
  func complete() throws {
    let link = Self.full()
    let url = try #require(LinkURL(link.url))
    let parameters = LinkParameters(try #require(url.parameters))
    for parameter in LinkParameter.allCases { #expect(parameters[parameter] != nil, "\(parameter)") }
    #expect(parameters.unknown.isEmpty)
    #expect(parameters[.link] == link.target && parameters[.socialTitle] == link.social.title)
    #expect(parameters[.iosScheme] == "acme-own" && parameters[.androidMinimumVersion] == "125")
    // To the letter what is stored and compared for duplicates.
    let prefix = try #require(LinkPrefix("https://go.acme.test/r"))
    #expect(link.url == parameters.longLink(below: prefix))
  }

  @Test("What is not said is not in the link")
  func bare() {
    var link = InvitationLink(to: "https://acme.test", below: "https://go.acme.test")
    #expect(link.url == "https://go.acme.test/?link=https%3A%2F%2Facme.test")
    link.social.title = ""
    #expect(link.url == "https://go.acme.test/?link=https%3A%2F%2Facme.test")
  }
}
