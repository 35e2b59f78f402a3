#!/bin/bash
# Claims an invitation with curl, to see every request. The server's link settings must hold the key.
#
#   SERVER=http://127.0.0.1:9000 KEY=web-key-1 ID_TOKEN=… ./invitation.sh 'https://go.acme.test/r/aB3x?cid=…&_icp=1'
#   SERVER=http://127.0.0.1:9000 KEY=web-key-1 ID_TOKEN=… ./invitation.sh ABCD-EFGH
#
# Without ID_TOKEN a new player is signed in anonymously first.
set -euo pipefail
server=${SERVER:-http://127.0.0.1:9000} key=${KEY:?a key of the link settings} proof=${1:?a link with its cid, or a code}

post() { # post PATH BODY [HEADER]
  curl -sS --fail-with-body -X POST "$server$1" -H 'Content-Type: application/json' ${3:+-H "$3"} -d "$2"
  echo
}
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

if [[ $proof == https://* ]]; then
  echo "Which link led to the installation?"
  post "/v1/installAttribution?key=$key" "{\"bundleId\":\"${BUNDLE:-test.acme.ios}\",\"uniqueMatchLinkToCheck\":\"$proof\"}"
  body="{\"link\":\"$proof\"}"
else
  body="{\"code\":\"$proof\"}"
fi

token=${ID_TOKEN:-}
if [[ -z $token ]]; then
  echo "A new player:"
  token=$(post "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=$key" '{"returnSecureToken":true}' | member idToken)
fi

echo "Who invited the player?"
post /v1/referrals:claim "$body" "Authorization: Bearer $token"
