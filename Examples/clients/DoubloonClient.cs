// A Doubloon client for Unity and .NET in one file: anonymous sign-in, the tree over REST, live changes by event streams, invitation
// links. It needs HttpClient and C# 7 (Unity 2021 or newer, .NET Standard 2.0; not WebGL), and no package.
//
//   var client = new DoubloonClient("https://game.example.com", "treasure-hunt-default-rtdb", "web-key-1");
//   await client.SignInAnonymously();                      // keep client.RefreshToken, and give it to Resume() next time
//   await client.Set("users/" + client.UserId + "/name", "Ann");
//   var stop = client.Listen("users/" + client.UserId, change => Debug.Log(change.Path + " is " + Json.Write(change.Value)));
//   ...
//   stop.Dispose();
//
// Listen calls back on a thread of the pool: hand the change to Unity's main thread yourself.

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Net.Http;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Doubloon
{
    /// What the server refused, with its status and its words. Status 0: it could not be reached.
    public sealed class DoubloonException : Exception
    {
        public readonly int Status;
        public DoubloonException(int status, string message) : base(message) { Status = status; }
    }

    /// A change that a listener is told: at Path ("/" is the place that is listened to) there is now Value; of an update
    /// (IsUpdate), the children in Value are replaced and the others stay.
    public sealed class Change
    {
        public readonly string Path;
        public readonly object Value;
        public readonly bool IsUpdate;
        public Change(string path, object value, bool isUpdate) { Path = path; Value = value; IsUpdate = isUpdate; }
    }

    public sealed class DoubloonClient
    {
        readonly string server, place, key;
        readonly HttpClient http;
        DateTime expiry = DateTime.MinValue;

        /// The signed-in player; null before.
        public string UserId { get; private set; }
        /// Signs the player in again without asking; store it, and keep it secret.
        public string RefreshToken { get; private set; }
        string idToken;

        /// server: its https address. tree: the namespace. key: one of "apiKeys" of the link settings; any text without links.
        public DoubloonClient(string server, string tree, string key, HttpMessageHandler handler = null)
        {
            this.server = server.TrimEnd('/');
            this.key = Uri.EscapeDataString(key);
            place = "ns=" + Uri.EscapeDataString(tree);
            http = handler == null ? new HttpClient() : new HttpClient(handler);
            // A stream stays open; each request has its own bound.
            http.Timeout = Timeout.InfiniteTimeSpan;
        }

        // Signing in

        /// Makes a player without a name.
        public async Task SignInAnonymously()
        {
            Take(await Ask("POST", "/v1/accounts:signUp?key=" + key, new Dictionary<string, object> { { "returnSecureToken", true } }, null));
        }

        /// Goes on as the player of a kept refresh token.
        public async Task Resume(string refreshToken)
        {
            RefreshToken = refreshToken;
            expiry = DateTime.MinValue;
            await Token();
        }

        /// Gives an anonymous player an address and a password; the id stays.
        public async Task Link(string email, string password)
        {
            var body = new Dictionary<string, object> { { "idToken", await Token() }, { "email", email }, { "password", password }, { "returnSecureToken", true } };
            Take(await Ask("POST", "/v1/accounts:signUp?key=" + key, body, null));
        }

        /// Signs in by address and password.
        public async Task SignIn(string email, string password)
        {
            var body = new Dictionary<string, object> { { "email", email }, { "password", password }, { "returnSecureToken", true } };
            Take(await Ask("POST", "/v1/accounts:signInWithPassword?key=" + key, body, null));
        }

        void Take(object answer)
        {
            UserId = Text(answer, "localId");
            // An answer that links a player may keep the session as it is.
            if (Text(answer, "idToken") == null) return;
            idToken = Text(answer, "idToken");
            RefreshToken = Text(answer, "refreshToken");
            expiry = DateTime.UtcNow.AddMinutes(50);
        }

        /// A token that is good for some minutes at least; null for nobody.
        async Task<string> Token()
        {
            if (RefreshToken == null || DateTime.UtcNow < expiry) return idToken;
            var body = new Dictionary<string, object> { { "grantType", "refresh_token" }, { "refreshToken", RefreshToken } };
            var answer = await Ask("POST", "/v1/token?key=" + key, body, null);
            UserId = Text(answer, "user_id");
            idToken = Text(answer, "id_token");
            RefreshToken = Text(answer, "refresh_token");
            expiry = DateTime.UtcNow.AddMinutes(50);
            return idToken;
        }

        // The tree

        /// What is at a path: null, bool, long, double, string, List<object> or Dictionary<string, object>.
        public async Task<object> Get(string path, string query = "") => await Ask("GET", Address(path, await Token()) + query, null, null);

        /// Replaces what is there. Returns what was written, with the server's values filled in.
        public async Task<object> Set(string path, object value) => await Ask("PUT", Address(path, await Token()), value, null, true);

        /// Changes several children, all or none.
        public async Task Update(string path, Dictionary<string, object> children) => await Ask("PATCH", Address(path, await Token()), children, null);

        /// Adds a child under a new name in order of time, and returns the name.
        public async Task<string> Push(string path, object value) => Text(await Ask("POST", Address(path, await Token()), value, null, true), "name");

        public async Task Delete(string path) => await Ask("DELETE", Address(path, await Token()), null, null);

        /// The server's time, where it is written.
        public static object Timestamp => new Dictionary<string, object> { { ".sv", "timestamp" } };

        /// Adds to a number, where it is written.
        public static object Increment(long by) =>
            new Dictionary<string, object> { { ".sv", new Dictionary<string, object> { { "increment", by } } } };

        string Address(string path, string token)
        {
            var parts = path.Trim('/').Split('/');
            for (var i = 0; i < parts.Length; i++) parts[i] = Uri.EscapeDataString(parts[i]);
            return "/" + string.Join("/", parts) + ".json?" + place + (token == null ? "" : "&auth=" + token);
        }

        // Live changes

        /// Calls back with the value at once, and with each change; connects again when the connection breaks, and then tells the whole
        /// value again. refused is told once, when the rules do not allow it: then it is over. Dispose the answer to stop.
        public IDisposable Listen(string path, Action<Change> changed, Action<DoubloonException> refused = null)
        {
            var stop = new CancellationTokenSource();
            Task.Run(() => Follow(path, changed, refused, stop.Token));
            return new Stopper(stop);
        }

        sealed class Stopper : IDisposable
        {
            readonly CancellationTokenSource source;
            public Stopper(CancellationTokenSource source) { this.source = source; }
            public void Dispose() => source.Cancel();
        }

        async Task Follow(string path, Action<Change> changed, Action<DoubloonException> refused, CancellationToken stop)
        {
            var wait = 1000;
            while (!stop.IsCancellationRequested)
            {
                try
                {
                    await ReadStream(path, change => { wait = 1000; changed(change); }, stop);
                }
                catch (DoubloonException error) when (error.Status >= 400 && error.Status < 500 && error.Status != 429)
                {
                    refused?.Invoke(error);
                    return;
                }
                catch (Exception) when (stop.IsCancellationRequested) { return; }
                catch (Exception) { }
                try { await Task.Delay(wait, stop); } catch (OperationCanceledException) { return; }
                wait = Math.Min(wait * 2, 30000);
            }
        }

        async Task ReadStream(string path, Action<Change> changed, CancellationToken stop)
        {
            var request = new HttpRequestMessage(HttpMethod.Get, server + Address(path, await Token()));
            request.Headers.Add("Accept", "text/event-stream");
            using (var response = await http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, stop))
            {
                if (!response.IsSuccessStatusCode) throw Refusal((int)response.StatusCode, await response.Content.ReadAsStringAsync());
                using (var stream = await response.Content.ReadAsStreamAsync())
                using (stop.Register(stream.Dispose))
                using (var reader = new StreamReader(stream, Encoding.UTF8))
                {
                    var kind = "";
                    for (string line; (line = await reader.ReadLineAsync()) != null;)
                    {
                        if (line.StartsWith("event: ")) kind = line.Substring(7);
                        else if (line.StartsWith("data: ") && (kind == "put" || kind == "patch"))
                        {
                            var data = Json.Read(line.Substring(6));
                            changed(new Change(Text(data, "path"), Member(data, "data"), kind == "patch"));
                        }
                        else if (kind == "cancel") throw new DoubloonException(401, "Permission denied");
                        else if (kind == "auth_revoked") { expiry = DateTime.MinValue; return; }
                    }
                }
            }
        }

        // Invitation links

        /// A short link that carries the player as inviter, and the code to type. longLink: such as
        /// https://go.example.com/r/?link=https://example.com/play
        public async Task<KeyValuePair<string, string>> CreateLink(string longLink)
        {
            var answer = await Ask("POST", "/v1/shortLinks?key=" + key, new Dictionary<string, object> { { "longDynamicLink", longLink } }, await Token());
            return new KeyValuePair<string, string>(Text(answer, "shortLink"), Text(answer, "code"));
        }

        /// Where the link leads that led to the installation; null if none did. Ask once, at the first start. link: the clipboard's text
        /// on iOS; referrer: the Play Store's on Android.
        public async Task<string> OpenFirst(string bundleId, string link, string referrer)
        {
            var body = new Dictionary<string, object> { { "bundleId", bundleId } };
            if (!string.IsNullOrEmpty(link)) body["uniqueMatchLinkToCheck"] = link;
            if (!string.IsNullOrEmpty(referrer)) body["installReferrer"] = referrer;
            return Text(await Ask("POST", "/v1/installAttribution?key=" + key, body, null), "deepLink");
        }

        /// Says who invited the player; kind is "link", "referrer" or "code". Returns the inviter.
        public async Task<string> Claim(string kind, string proof) =>
            Text(await Ask("POST", "/v1/referrals:claim", new Dictionary<string, object> { { kind, proof } }, await Token()), "referredBy");

        // HTTP

        async Task<object> Ask(string method, string path, object body, string bearer, bool sendsNull = false)
        {
            var request = new HttpRequestMessage(new HttpMethod(method), server + path);
            if (body != null || sendsNull) request.Content = new StringContent(Json.Write(body), Encoding.UTF8, "application/json");
            if (bearer != null) request.Headers.Add("Authorization", "Bearer " + bearer);
            using (var limit = new CancellationTokenSource(TimeSpan.FromSeconds(30)))
            {
                try
                {
                    using (var response = await http.SendAsync(request, limit.Token))
                    {
                        var text = await response.Content.ReadAsStringAsync();
                        if (!response.IsSuccessStatusCode) throw Refusal((int)response.StatusCode, text);
                        return text.Length == 0 ? null : Json.Read(text);
                    }
                }
                catch (HttpRequestException error) { throw new DoubloonException(0, (error.InnerException ?? error).Message); }
                catch (OperationCanceledException) { throw new DoubloonException(0, "The server did not answer within 30 seconds."); }
            }
        }

        static DoubloonException Refusal(int status, string text)
        {
            try
            {
                var error = Member(Json.Read(text), "error");
                return new DoubloonException(status, error as string ?? Text(error, "message") ?? text);
            }
            catch (FormatException) { return new DoubloonException(status, text); }
        }

        static object Member(object json, string name)
        {
            object value = null;
            (json as Dictionary<string, object>)?.TryGetValue(name, out value);
            return value;
        }

        static string Text(object json, string name) => Member(json, name) as string;
    }

    /// JSON as plain values: null, bool, long, double, string, List<object>, Dictionary<string, object>.
    public static class Json
    {
        public static string Write(object value)
        {
            var text = new StringBuilder();
            Write(value, text);
            return text.ToString();
        }

        static void Write(object value, StringBuilder text)
        {
            var map = value as System.Collections.IDictionary;
            var list = value as System.Collections.IEnumerable;
            if (value == null) text.Append("null");
            else if (value is bool) text.Append((bool)value ? "true" : "false");
            else if (value is string) WriteText((string)value, text);
            else if (map != null)
            {
                var separator = "{";
                foreach (System.Collections.DictionaryEntry entry in map)
                {
                    text.Append(separator);
                    WriteText((string)entry.Key, text);
                    text.Append(':');
                    Write(entry.Value, text);
                    separator = ",";
                }
                text.Append(map.Count == 0 ? "{}" : "}");
            }
            else if (list != null)
            {
                var separator = "[";
                foreach (var item in list)
                {
                    text.Append(separator);
                    Write(item, text);
                    separator = ",";
                }
                text.Append(separator == "[" ? "[]" : "]");
            }
            else if (value is double || value is float) text.Append(Convert.ToDouble(value).ToString("R", CultureInfo.InvariantCulture));
            else text.Append(Convert.ToString(value, CultureInfo.InvariantCulture));
        }

        static void WriteText(string words, StringBuilder text)
        {
            text.Append('"');
            foreach (var letter in words)
                if (letter == '"' || letter == '\\') text.Append('\\').Append(letter);
                else if (letter < ' ') text.Append("\\u").Append(((int)letter).ToString("x4"));
                else text.Append(letter);
            text.Append('"');
        }

        /// Throws FormatException for what is no JSON.
        public static object Read(string text)
        {
            var at = 0;
            var value = ReadValue(text, ref at, 0);
            Skip(text, ref at);
            if (at < text.Length) throw new FormatException("The server's answer is no JSON.");
            return value;
        }

        static object ReadValue(string text, ref int at, int depth)
        {
            Skip(text, ref at);
            if (at >= text.Length || depth > 64) throw new FormatException("The server's answer is no JSON.");
            switch (text[at])
            {
                case '{':
                    var map = new Dictionary<string, object>();
                    at++;
                    while (!Take(text, ref at, '}'))
                    {
                        if (map.Count > 0) Expect(text, ref at, ',');
                        Skip(text, ref at);
                        var name = ReadText(text, ref at);
                        Expect(text, ref at, ':');
                        map[name] = ReadValue(text, ref at, depth + 1);
                    }
                    return map;
                case '[':
                    var list = new List<object>();
                    at++;
                    while (!Take(text, ref at, ']'))
                    {
                        if (list.Count > 0) Expect(text, ref at, ',');
                        list.Add(ReadValue(text, ref at, depth + 1));
                    }
                    return list;
                case '"': return ReadText(text, ref at);
                default: return ReadWord(text, ref at);
            }
        }

        static object ReadWord(string text, ref int at)
        {
            var begin = at;
            while (at < text.Length && ",]} \r\n\t".IndexOf(text[at]) < 0) at++;
            var word = text.Substring(begin, at - begin);
            if (word == "null") return null;
            if (word == "true") return true;
            if (word == "false") return false;
            if (long.TryParse(word, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var whole)) return whole;
            return double.Parse(word, NumberStyles.Float, CultureInfo.InvariantCulture);
        }

        static string ReadText(string text, ref int at)
        {
            if (at >= text.Length || text[at] != '"') throw new FormatException("The server's answer is no JSON.");
            var words = new StringBuilder();
            for (at++; at < text.Length && text[at] != '"'; at++)
            {
                if (text[at] != '\\') { words.Append(text[at]); continue; }
                if (++at >= text.Length) break;
                var index = "nrtbf".IndexOf(text[at]);
                if (text[at] == 'u' && at + 4 < text.Length)
                {
                    words.Append((char)int.Parse(text.Substring(at + 1, 4), NumberStyles.HexNumber, CultureInfo.InvariantCulture));
                    at += 4;
                }
                else words.Append(index < 0 ? text[at] : "\n\r\t\b\f"[index]);
            }
            if (at >= text.Length) throw new FormatException("The server's answer is no JSON.");
            at++;
            return words.ToString();
        }

        static void Skip(string text, ref int at)
        {
            while (at < text.Length && " \r\n\t".IndexOf(text[at]) >= 0) at++;
        }

        static bool Take(string text, ref int at, char sign)
        {
            Skip(text, ref at);
            if (at >= text.Length || text[at] != sign) return false;
            at++;
            return true;
        }

        static void Expect(string text, ref int at, char sign)
        {
            if (!Take(text, ref at, sign)) throw new FormatException("The server's answer is no JSON.");
        }
    }
}
