// Plays Examples/clients/DoubloonClient.cs against a server: platforms_stage.py compiles both with mcs, and runs them under Mono.
// Arguments: the server, the tree. Each line that it prints is a check.

using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading.Tasks;
using Doubloon;

static class ClientTest
{
    static int failed;

    static void Check(string name, bool holds, object detail = null)
    {
        if (!holds) failed++;
        Console.WriteLine((holds ? "ok      C#: " : "FAILED  C#: ") + name + (holds ? "" : ": " + detail));
    }

    static int Main(string[] arguments)
    {
        Play(arguments[0], arguments[1]).Wait();
        return failed == 0 ? 0 : 1;
    }

    static async Task<int> Status(Func<Task> ask)
    {
        try { await ask(); } catch (DoubloonException error) { return error.Status; }
        return 200;
    }

    static Change Next(BlockingCollection<Change> heard)
    {
        Change change;
        return heard.TryTake(out change, TimeSpan.FromSeconds(20)) ? change : new Change("nothing came", null, false);
    }

    static async Task Play(string server, string tree)
    {
        var ann = new DoubloonClient(server, tree, "web-key-1");
        await ann.SignInAnonymously();
        Check("an anonymous player signs in", !string.IsNullOrEmpty(ann.UserId) && !string.IsNullOrEmpty(ann.RefreshToken));
        var home = "users/" + ann.UserId;

        var words = "J\u00f6rg \"\u20ac\" \U0001f600\nnext\\line";
        await ann.Set(home, new Dictionary<string, object> { { "name", words }, { "level", 3L }, { "tags", new List<object> { "a", 1.5, true } } });
        var record = (Dictionary<string, object>)await ann.Get(home);
        Check("what is written is read, in every alphabet", (string)record["name"] == words && (long)record["level"] == 3, Json.Write(record));
        Check("lists, fractions and flags too", Json.Write(record["tags"]) == "[\"a\",1.5,true]", Json.Write(record["tags"]));
        await ann.Update(home, new Dictionary<string, object> { { "level", DoubloonClient.Increment(2) }, { "seen", DoubloonClient.Timestamp } });
        Check("the server's values are filled in", (long)await ann.Get(home + "/level") == 5 && (long)await ann.Get(home + "/seen") > 1600000000000);
        var first = await ann.Push(home + "/log", "one");
        var second = await ann.Push(home + "/log", "two");
        Check("names of pushed children are in order", string.CompareOrdinal(first, second) < 0, first + " " + second);
        await ann.Delete(home + "/log");
        Check("what is deleted is gone", await ann.Get(home + "/log") == null);
        Check("the rules hold", await Status(() => ann.Get("users/somebody")) == 401);

        var heard = new BlockingCollection<Change>();
        var stop = ann.Listen(home + "/level", heard.Add);
        var now = Next(heard);
        Check("a listener hears the value at once", now.Path == "/" && now.Value is long && (long)now.Value == 5, now.Path + Json.Write(now.Value));
        await ann.Set(home + "/level", 6L);
        now = Next(heard);
        Check("and each change", now.Value is long && (long)now.Value == 6, now.Path + Json.Write(now.Value));
        stop.Dispose();
        var refusals = new BlockingCollection<Change>();
        ann.Listen("users/somebody", refusals.Add, error => refusals.Add(new Change(error.Status.ToString(), null, false)));
        Check("a listener is told that the rules refuse", Next(refusals).Path == "401");

        var link = await ann.CreateLink("https://go.example.com/r/?link=https://example.com/play");
        Check("a link is made", link.Key.StartsWith("https://go.example.com/r/") && link.Value != null, link.Key);
        var bob = new DoubloonClient(server, tree, "web-key-1");
        await bob.SignInAnonymously();
        Check("a code says who invited", await bob.Claim("code", link.Value) == ann.UserId);
        Check("and stands in the record", (string)await bob.Get("users/" + bob.UserId + "/referred_by") == ann.UserId);
        Check("no link led to this installation", await bob.OpenFirst("com.example.game", null, "utm_source=none") == null);
        Check("a wrong code is refused", await Status(() => ann.Claim("code", "ZZZZ-ZZZZ")) >= 400);

        var uid = bob.UserId;
        await bob.Link("bob@example.com", "eight pieces");
        Check("a linked player keeps the id", bob.UserId == uid);
        var later = new DoubloonClient(server, tree, "web-key-1");
        await later.SignIn("bob@example.com", "eight pieces");
        Check("and signs in by password", later.UserId == uid);
        var again = new DoubloonClient(server, tree, "web-key-1");
        await again.Resume(later.RefreshToken);
        Check("a kept session goes on", again.UserId == uid && await Status(() => again.Get("users/" + uid)) == 200);
        Check("a wrong password is refused", await Status(() => later.SignIn("bob@example.com", "nine pieces")) == 400);
        Check("a server that is not there is status 0", await Status(() => new DoubloonClient("https://localhost:1", tree, "k").Get("a")) == 0);
    }
}
