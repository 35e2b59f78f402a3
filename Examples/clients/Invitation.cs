// Claims an invitation in Unity. Application.absoluteURL and Application.deepLinkActivated give the link that opened the app;
// on iOS the clipboard may hold the one that led to the installation (it ends in _icp=1), on Android pass the Play referrer.

using System;
using System.Text;
using System.Threading.Tasks;
using UnityEngine;
using UnityEngine.Networking;

public sealed class Invitation
{
    public sealed class Refused : Exception
    {
        public readonly long Status;
        public Refused(long status, string message) : base(message) { Status = status; }
    }

    [Serializable] class Attribution { public string bundleId; public string uniqueMatchLinkToCheck; public string installReferrer; }
    [Serializable] class Attributed { public string deepLink; public string attributionConfidence; public string matchMessage; }
    [Serializable] class SignUpWish { public bool returnSecureToken = true; }
    [Serializable] public class Player { public string localId; public string idToken; public string refreshToken; }
    [Serializable] class Proof { public string link; public string referrer; public string code; }
    [Serializable] class Claimed { public string referredBy; }
    [Serializable] class Fault { public FaultBody error; }
    [Serializable] class FaultBody { public int code; public string message; public string status; }

    readonly string server, key;

    public Invitation(string server, string key) { this.server = server; this.key = key; }

    /// The text of the clipboard if it is one of our links, marked by the invitation page; null otherwise.
    public static string FromClipboard()
    {
        var text = GUIUtility.systemCopyBuffer ?? "";
        return text.StartsWith("https://") && text.EndsWith("_icp=1") ? text : null;
    }

    /// Where the link leads that led to the installation; null if none did. Ask once, at the first start.
    public async Task<string> Open(string clipboardLink, string playReferrer)
    {
        var body = new Attribution {
            bundleId = Application.identifier, uniqueMatchLinkToCheck = clipboardLink ?? "", installReferrer = playReferrer ?? "" };
        var answer = await Post<Attributed>("/v1/installAttribution?key=" + key, body, null);
        return string.IsNullOrEmpty(answer.deepLink) ? null : answer.deepLink;
    }

    /// Signs a new player in without a name; keep the refresh token.
    public Task<Player> SignUp() =>
        Post<Player>("/identitytoolkit.googleapis.com/v1/accounts:signUp?key=" + key, new SignUpWish(), null);

    /// Says who invited the player: by a link with its proof. Returns the inviter.
    public async Task<string> ClaimLink(string idToken, string link) =>
        (await Post<Claimed>("/v1/referrals:claim", new Proof { link = link, referrer = "", code = "" }, idToken)).referredBy;

    /// The same by the Play Store's referrer.
    public async Task<string> ClaimReferrer(string idToken, string referrer) =>
        (await Post<Claimed>("/v1/referrals:claim", new Proof { link = "", referrer = referrer, code = "" }, idToken)).referredBy;

    /// The same by the code of the invitation page, as the player typed it.
    public async Task<string> Enter(string idToken, string code) =>
        (await Post<Claimed>("/v1/referrals:claim", new Proof { link = "", referrer = "", code = code }, idToken)).referredBy;

    async Task<T> Post<T>(string path, object body, string idToken)
    {
        using (var request = new UnityWebRequest(server + path, "POST"))
        {
            request.uploadHandler = new UploadHandlerRaw(Encoding.UTF8.GetBytes(JsonUtility.ToJson(body)));
            request.downloadHandler = new DownloadHandlerBuffer();
            request.timeout = 10;
            request.SetRequestHeader("Content-Type", "application/json");
            if (idToken != null) request.SetRequestHeader("Authorization", "Bearer " + idToken);
            var operation = request.SendWebRequest();
            while (!operation.isDone) await Task.Yield();
            if (request.responseCode == 0) throw new Refused(0, request.error);
            if (request.responseCode >= 400)
                throw new Refused(request.responseCode, JsonUtility.FromJson<Fault>(request.downloadHandler.text).error.message);
            return JsonUtility.FromJson<T>(request.downloadHandler.text);
        }
    }
}
