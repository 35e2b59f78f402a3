// Claims an invitation on Android: the Play Store hands over a referrer that proves which link led to the installation.
// Needs com.android.installreferrer:installreferrer and the permission INTERNET. Call from a background thread.

import android.content.Context
import com.android.installreferrer.api.InstallReferrerClient
import com.android.installreferrer.api.InstallReferrerStateListener
import java.net.HttpURLConnection
import java.net.URL
import org.json.JSONObject

class Invitation(private val server: String, private val key: String, private val packageName: String) {
  class Refused(val status: Int, message: String) : Exception(message)

  /** Reads the referrer once after the installation; null where there is none. */
  fun referrer(context: Context, done: (String?) -> Unit) {
    val client = InstallReferrerClient.newBuilder(context).build()
    client.startConnection(object : InstallReferrerStateListener {
      override fun onInstallReferrerSetupFinished(code: Int) {
        val text = if (code == InstallReferrerClient.InstallReferrerResponse.OK) client.installReferrer.installReferrer else null
        client.endConnection()
        done(text)
      }
      override fun onInstallReferrerServiceDisconnected() = done(null)
    })
  }

  /** Where the link leads that led to the installation; null if none did. Ask once. */
  fun open(referrer: String): String? =
    post("/v1/installAttribution?key=$key", JSONObject().put("bundleId", packageName).put("installReferrer", referrer))
      .optString("deepLink").ifEmpty { null }

  /** Signs a new player in without a name; keep the refresh token. */
  fun signUp(): JSONObject =
    post("/identitytoolkit.googleapis.com/v1/accounts:signUp?key=$key", JSONObject().put("returnSecureToken", true))

  /** Says who invited the player: by the referrer. Returns the inviter. */
  fun claim(idToken: String, referrer: String): String =
    post("/v1/referrals:claim", JSONObject().put("referrer", referrer), idToken).getString("referredBy")

  /** The same by the code of the invitation page, as the player typed it. */
  fun enter(idToken: String, code: String): String =
    post("/v1/referrals:claim", JSONObject().put("code", code), idToken).getString("referredBy")

  private fun post(path: String, body: JSONObject, idToken: String? = null): JSONObject {
    val connection = URL(server + path).openConnection() as HttpURLConnection
    connection.requestMethod = "POST"
    connection.connectTimeout = 10_000
    connection.readTimeout = 10_000
    connection.doOutput = true
    connection.setRequestProperty("Content-Type", "application/json")
    if (idToken != null) connection.setRequestProperty("Authorization", "Bearer $idToken")
    connection.outputStream.use { it.write(body.toString().toByteArray()) }
    val status = connection.responseCode
    val stream = if (status < 400) connection.inputStream else connection.errorStream
    val answer = JSONObject(stream.bufferedReader().use { it.readText() })
    if (status >= 400) throw Refused(status, answer.getJSONObject("error").getString("message"))
    return answer
  }
}
