/// Expressions with the verdicts of the hosted service: 186 rows, recorded by the authors of goldibex/targaryen
/// (`test/spec/lib/parser/fixtures.json`).
///
/// Copyright (c) 2014-2016, Harry Schmidt. Permission to use, copy, modify, and/or distribute this software for any purpose
/// with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all
/// copies. (ISC licence; the software is provided "as is", without warranty of any kind.)
///
/// One row a line: the rule; whether it is accepted; whether evaluating it fails, and else what it is; and what it was evaluated
/// with: `auth` ("bob" stands for ``bob``; none: nobody), `data`, `wildchildren`, `query`.
enum OracleRows {
  static let bob = #"""
    {"foo": {"bar": true}, "provider": "custom",
    "someBool": true, "someInt": 1, "someString": "one", "uid": "custom:bob"}
    """#

  static let text = #"""
    {"rule": "1 < 2", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "true", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "'foo'.contains('o')", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "auth !== null", "isValid": true, "failAtRuntime": false, "evaluateTo": false}
    {"rule": "auth.uid !== 'eviluser'", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "auth.someInt < 5", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "auth.provider === 'custom'", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "auth.contains('75')", "isValid": true, "failAtRuntime": true}
    {"rule": "auth.notfound.contains('75')", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "auth.not.found.length > 0", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "auth.isTernary === true ? root.child('x').exists() : true", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "root.isBoolean()", "isValid": true, "failAtRuntime": false, "evaluateTo": false}
    {"rule": "root.child(auth.someString.toUpperCase()).val() === null", "isValid": true, "failAtRuntime": true}
    {"rule": "root.hasChildren()", "isValid": true, "failAtRuntime": false, "evaluateTo": false}
    {"rule": "root.hasChildren(['foo', 'bar', 'baz'])", "isValid": true, "failAtRuntime": false, "evaluateTo": false}
    {"rule": "root.hasChildren([auth.uid])", "isValid": true, "failAtRuntime": true}
    {"rule": "root.child('users/' + auth.uid).exists()", "isValid": true, "failAtRuntime": true}
    {"rule": "root.child(auth.x + auth.y).exists()", "isValid": true, "failAtRuntime": true}
    {"rule": "var foo = 8", "isValid": false}
    {"rule": "root = 5", "isValid": false}
    {"rule": "auth.uid === '5'; auth.id === 5", "isValid": false}
    {"rule": "7", "isValid": false}
    {"rule": "'foo'", "isValid": false}
    {"rule": "auth.someString === 'one' ? 7 : true", "isValid": false, "auth": "bob"}
    {"rule": "auth.foo.contains(7)", "isValid": false}
    {"rule": "skies === 'blue'", "isValid": false}
    {"rule": "root.hasChildren('foo', 'bar')", "isValid": false}
    {"rule": "root.hasChildren(['foo', 7])", "isValid": false}
    {"rule": "root.child('str').val().matches('/foo/')", "isValid": false}
    {"rule": "auth.foo.notFound() == false", "isValid": false}
    {"rule": "root.val().notFound == false", "isValid": false}
    {"rule": "root.child('foo') != null", "isValid": false}
    {"rule": "root.val() > true", "isValid": false}
    {"rule": "root.val() < true", "isValid": false}
    {"rule": "root.val() >= true", "isValid": false}
    {"rule": "root.val() <= true", "isValid": false}
    {"rule": "$color == 'blue'", "wildchildren": {"$color": "blue"}, "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "$color == 'green'", "wildchildren": {"$color": "orange"}, "isValid": true, "failAtRuntime": false, "evaluateTo": false}
    {"rule": "$color == 'red'", "isValid": false}
    {"rule": "$color == 'blue' && auth.foo.bar == true", "wildchildren": {"$color": "blue"}, "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "auth.dreams.length > 1", "isValid": true, "failAtRuntime": true}
    {"rule": "auth.dreams.length > 1 ? false : true", "isValid": true, "failAtRuntime": true}
    {"rule": "!(auth.dreams.length > 1)", "isValid": true, "failAtRuntime": true}
    {"rule": "root.val() == 'bar'", "data": "bar", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "root.val().contains('ba')", "data": "bar", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "auth.foo[$bar] == true", "wildchildren": {"$bar": "bar"}, "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "auth.foo['bar'] == true", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "auth.foo.bar == true", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "auth.foo.baz == null", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "root.child('foo').child(auth.foo).val() != null", "data": {"foo": {"bar": true}}, "isValid": true, "failAtRuntime": true}
    {"rule": "root.child('foo').child(auth.foo).val() == null", "data": {"foo": {"bar": true}}, "isValid": true, "failAtRuntime": true}
    {"rule": "root.child('foo').child(auth.foo).exists()", "data": {"foo": {"bar": true}}, "isValid": true, "failAtRuntime": true}
    {"rule": "root.child('foo').child(auth.foo).exists() == false", "data": {"foo": {"bar": true}}, "isValid": true, "failAtRuntime": true}
    {"rule": "root.child('foo').hasChild(auth.foo)", "data": {"foo": {"bar": true}}, "isValid": true, "failAtRuntime": true}
    {"rule": "root.child('foo').hasChild(auth.foo) == false", "data": {"foo": {"bar": true}}, "isValid": true, "failAtRuntime": true}
    {"rule": "root.child('foo').hasChildren([auth.foo])", "data": {"foo": {"bar": true}}, "isValid": true, "failAtRuntime": true}
    {"rule": "root.child('foo').hasChildren([auth.foo]) == false", "data": {"foo": {"bar": true}}, "isValid": true, "failAtRuntime": true}
    {"rule": "'foo'.contains(auth.foo)", "isValid": true, "failAtRuntime": true}
    {"rule": "'foo1'.contains(auth.someInt)", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "'foo'.beginsWith(auth.foo)", "isValid": true, "failAtRuntime": true}
    {"rule": "'1foo'.beginsWith(auth.someInt)", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "'foo'.endsWith(auth.foo)", "isValid": true, "failAtRuntime": true}
    {"rule": "'foo1'.endsWith(auth.someInt)", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "'foo'.replace(auth.foo, 'bar') == 'foo'", "isValid": true, "failAtRuntime": true}
    {"rule": "'foo1'.replace(auth.someInt, 'bar') == 'foobar'", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "'foobar'.replace('bar', auth.someInt) == 'foo1'", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "-auth.foo == -1", "isValid": true, "failAtRuntime": true}
    {"rule": "-auth.someString == -1", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "!(auth.foo == null)", "isValid": true, "failAtRuntime": false, "evaluateTo": false}
    {"rule": "!(auth.someString == null)", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "(2**2) == 4", "isValid": false, "auth": "bob"}
    {"rule": "(auth.someInt + 1) == 2", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "(1 + auth.someInt) == 2", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "(auth.someInt - 1) == 0", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "(1 - auth.someInt) == 0", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "(auth.someInt * 1) == 1", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "(1 * auth.someInt) == 1", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "(auth.someInt / 2) == 0.5", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "(1 / auth.someInt) == 1", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "(auth.someInt % 2) == 1", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "(1 % auth.someInt) == 1", "isValid": true, "failAtRuntime": false, "evaluateTo": false, "auth": "bob"}
    {"rule": "(auth.someString + 'two') == 'onetwo'", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "(auth.someString + 1) == 2", "isValid": true, "failAtRuntime": false, "evaluateTo": false, "auth": "bob"}
    {"rule": "('two' + auth.someString) == 'twoone'", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "(1 + auth.someString) == 2", "isValid": true, "failAtRuntime": false, "evaluateTo": false, "auth": "bob"}
    {"rule": "(1 + 1) == 2", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "(auth.someString - 1) == 0", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(1 - auth.someString) == 0", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(auth.someString * 1) == 1", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(1 * auth.someString) == 1", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(auth.someString / 2) == 0.5", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(1 / auth.someString) == 1", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(auth.someString % 2) == 1", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(1 % auth.someString) == 1", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(1 + auth.someBool) == 2", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(auth.someBool - 1) == 0", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(1 - auth.someBool) == 0", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(auth.someBool * 1) == 1", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(1 * auth.someBool) == 1", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(auth.someBool / 2) == 0.5", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(1 / auth.someBool) == 1", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(auth.someBool % 2) == 1", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(1 % auth.someBool) == 1", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(1 + auth.none) == 2", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(auth.none - 1) == 0", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(1 - auth.none) == 0", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(auth.none * 1) == 1", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(1 * auth.none) == 1", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(auth.none / 2) == 0", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(1 / auth.none) == 1", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(auth.none % 2) == 0", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(1 % auth.none) == 0", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "(1/0 + '') == 'NaN'", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "(1/0) > 2", "isValid": true, "failAtRuntime": false, "evaluateTo": false}
    {"rule": "(1/0) < 2", "isValid": true, "failAtRuntime": false, "evaluateTo": false}
    {"rule": "'foo' == auth.foo", "isValid": true, "failAtRuntime": false, "evaluateTo": false}
    {"rule": "auth.foo == 'foo'", "isValid": true, "failAtRuntime": false, "evaluateTo": false}
    {"rule": "'foo' === auth.foo", "isValid": true, "failAtRuntime": false, "evaluateTo": false}
    {"rule": "auth.foo === 'foo'", "isValid": true, "failAtRuntime": false, "evaluateTo": false}
    {"rule": "'foo' != auth.foo", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "auth.foo != 'foo'", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "'foo' !== auth.foo", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "auth.foo !== 'foo'", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "'one' == auth.someInt", "isValid": true, "failAtRuntime": false, "evaluateTo": false, "auth": "bob"}
    {"rule": "auth.someInt == 'one'", "isValid": true, "failAtRuntime": false, "evaluateTo": false, "auth": "bob"}
    {"rule": "'one' === auth.someInt", "isValid": true, "failAtRuntime": false, "evaluateTo": false, "auth": "bob"}
    {"rule": "auth.someInt === 'one'", "isValid": true, "failAtRuntime": false, "evaluateTo": false, "auth": "bob"}
    {"rule": "'one' != auth.someInt", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "auth.someInt != 'one'", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "'one' !== auth.someInt", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "auth.someInt !== 'one'", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "'foo' > auth.foo", "isValid": true, "failAtRuntime": true}
    {"rule": "auth.foo > 'foo'", "isValid": true, "failAtRuntime": true}
    {"rule": "'foo' >= auth.foo", "isValid": true, "failAtRuntime": true}
    {"rule": "auth.foo >= 'foo'", "isValid": true, "failAtRuntime": true}
    {"rule": "'foo' < auth.foo", "isValid": true, "failAtRuntime": true}
    {"rule": "auth.foo < 'foo'", "isValid": true, "failAtRuntime": true}
    {"rule": "'foo' <= auth.foo", "isValid": true, "failAtRuntime": true}
    {"rule": "auth.foo <= 'foo'", "isValid": true, "failAtRuntime": true}
    {"rule": "'one' > auth.someInt", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "auth.someInt > 'one'", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "'one' >= auth.someInt", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "auth.someInt >= 'one'", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "'one' < auth.someInt", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "auth.someInt < 'one'", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "'one' <= auth.someInt", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "auth.someInt <= 'one'", "isValid": true, "failAtRuntime": true, "auth": "bob"}
    {"rule": "1 >= auth.someInt", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "2 > auth.someInt", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "1 <= auth.someInt", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "0 < auth.someInt", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "root.parent().exists()", "isValid": true, "failAtRuntime": true}
    {"rule": "root[\"exists\"]() == false", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "root[\"doesNotExist\"]() == true", "isValid": false}
    {"rule": "root[\"exi\" + \"sts\"]() == false", "isValid": false}
    {"rule": "root[$foo]() == false", "wildchildren": {"$foo": "exists"}, "isValid": false}
    {"rule": "auth.someString[\"contains\"](\"on\") == true", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": "bob"}
    {"rule": "auth.someString[\"doesNotContains\"](\"on\") == false", "isValid": false, "auth": "bob"}
    {"rule": "root.child(\"foo\").val().length < 100", "data": {"foo": ""}, "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "root.child(\"banned/\" + auth.uid).val() != true", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": {"uid": "bob@example.com"}}
    {"rule": "root.hasChild(\"banned/\" + auth.uid) == false", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": {"uid": "bob@example.com"}}
    {"rule": "root.hasChildren([\"banned/\" + auth.uid]) == false", "isValid": true, "failAtRuntime": false, "evaluateTo": true, "auth": {"uid": "bob@example.com"}}
    {"rule": "root.child(\"banned/bob@example.com\").val() != true", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "root.hasChild(\"banned/bob@example.com\") == false", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "root.hasChildren([\"banned/bob@example.com\"]) == false", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "query.orderByChild == \"foo/bar\"", "query": {"orderByChild": "foo/bar"}, "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "query.orderByChild == null", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "query.orderByChild == \"owner\"", "query": {"orderByChild": "owner"}, "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "query.orderByKey == true && query.orderByValue == false && query.orderByPriority == false", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "query.orderByKey != null && query.orderByValue != null && query.orderByPriority != null", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "query.orderByKey == false && query.orderByValue == true && query.orderByPriority == false", "query": {"orderByValue": true}, "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "query.startAt == null && query.endAt == null && query.equalTo == null", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "query.startAt == \"foo\"", "query": {"orderByValue": true, "startAt": "foo"}, "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "query.endAt == 3", "query": {"orderByValue": true, "endAt": 3}, "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "query.equalTo == true", "query": {"orderByValue": true, "equalTo": true}, "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "query.limitToLast == null && query.limitToFirst == null", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "query.limitToLast == 10", "query": {"orderByValue": true, "limitToLast": 10}, "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "query.foo == 1", "isValid": false}
    {"rule": "root.val().matches(/bar/)", "data": "bar", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "root.val().matches(/BAR/i)", "data": "bar", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "root.val().matches(/bar/ig)", "isValid": false}
    {"rule": "root.val().matches(/^foo/)", "data": "foo", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "root.val().matches(/^foo$/)", "data": "foo", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    {"rule": "root.val().matches(/(^foo$|bar)/)", "data": "foo", "isValid": false}
    {"rule": "root.val().matches(/^(foo|)$/)", "data": "foo", "isValid": false}
    {"rule": "root.val().matches(/\\{foo}/)", "data": "{foo}", "isValid": true, "failAtRuntime": false, "evaluateTo": true}
    """#
}
