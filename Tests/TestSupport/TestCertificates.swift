/// Certificates of an authority that exists in tests only, valid for a hundred years.
public enum TestCertificates {
  /// The authority that vouches for the others.
  public static let authority = """
    -----BEGIN CERTIFICATE-----
    MIIBrDCCAVGgAwIBAgIUa3Ng1e6YlOX7JEXGOzY03Br5bBcwCgYIKoZIzj0EAwIw
    IjEgMB4GA1UEAwwXRG91Ymxvb24gdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIyMDIz
    MzQ0WhgPMjEyNjEwMjkwMjMzNDRaMCIxIDAeBgNVBAMMF0RvdWJsb29uIHRlc3Qg
    YXV0aG9yaXR5MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEbcnjTVNX7aLGiFGS
    MgZ5ysb3MB1vJiRbOR12871MBrDtG36ZP8lGXeESwqdF5+Lf6TgLpmzxfsT9vThd
    RqP166NjMGEwHQYDVR0OBBYEFCMTPwOl78VueWm2dlUPNFJpWaEVMB8GA1UdIwQY
    MBaAFCMTPwOl78VueWm2dlUPNFJpWaEVMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0P
    AQH/BAQDAgEGMAoGCCqGSM49BAMCA0kAMEYCIQCPbpM+UovAsHxm0VNoMNuclqeF
    981nSWyA6kWQSAVmzgIhANWANUKEM8r/rBcEQNytt8Hm5M9Hs3wrZy+gsCzmz4QT
    -----END CERTIFICATE-----

    """

  /// For `localhost` and `127.0.0.1`.
  public static let local = """
    -----BEGIN CERTIFICATE-----
    MIIBuDCCAV6gAwIBAgIUWlOsiDx5eMeEO7MQ/eroKMafxBQwCgYIKoZIzj0EAwIw
    IjEgMB4GA1UEAwwXRG91Ymxvb24gdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIyMDIz
    MzQ0WhgPMjEyNjEwMjkwMjMzNDRaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMG
    ByqGSM49AgEGCCqGSM49AwEHA0IABJ0xYjvIe5QTy3i0jh6d7ifpowSZc9D6tuVw
    FiDfVW2yzyOzjXdOUdbXG/7KJXHB9ODr2kb/9Q7hJFMzqEskwcmjfjB8MBoGA1Ud
    EQQTMBGCCWxvY2FsaG9zdIcEfwAAATAJBgNVHRMEAjAAMBMGA1UdJQQMMAoGCCsG
    AQUFBwMBMB0GA1UdDgQWBBRHa6jkenysKizv4hEeECzB5oSq9zAfBgNVHSMEGDAW
    gBQjEz8Dpe/FbnlptnZVDzRSaVmhFTAKBggqhkjOPQQDAgNIADBFAiEAhCMJInv7
    3K2k736nCejA25Q9grccca1aAMwpZEt+YfACIFutN0RJc7hxHJXHvAwUyMIAnI9V
    50g2ya+WFB/3CJFu
    -----END CERTIFICATE-----

    """

  /// Its key.
  public static let localKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgCVjHKtBGT7JZa4RF
    p8VXKn96bk/CHfiFIqmVr9jY+TqhRANCAASdMWI7yHuUE8t4tI4ene4n6aMEmXPQ
    +rblcBYg31Vtss8js413TlHW1xv+yiVxwfTg69pG//UO4SRTM6hLJMHJ
    -----END PRIVATE KEY-----

    """

  /// Another for the same.
  public static let renewed = """
    -----BEGIN CERTIFICATE-----
    MIIBuDCCAV6gAwIBAgIUWlOsiDx5eMeEO7MQ/eroKMafxBYwCgYIKoZIzj0EAwIw
    IjEgMB4GA1UEAwwXRG91Ymxvb24gdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIyMDIz
    MzQ1WhgPMjEyNjEwMjkwMjMzNDVaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMG
    ByqGSM49AgEGCCqGSM49AwEHA0IABGCOMYo17CGI2ZKofbh0CECFMdpJo1ct/mXc
    LA+AjaJhHUNrSY5yepwDb6d/EcNqYC2FIqNjewWg9SUTrYfOwGajfjB8MBoGA1Ud
    EQQTMBGCCWxvY2FsaG9zdIcEfwAAATAJBgNVHRMEAjAAMBMGA1UdJQQMMAoGCCsG
    AQUFBwMBMB0GA1UdDgQWBBQ36PUETQUy/1/HM24YeG1mCZTUnDAfBgNVHSMEGDAW
    gBQjEz8Dpe/FbnlptnZVDzRSaVmhFTAKBggqhkjOPQQDAgNIADBFAiBvJ3nVdHLd
    reAWdNcOxUaG2l98unGt7qIvelf2XAtbNAIhAJXbG+1ikE4u+He9ZHt6psdaYrmi
    31Y76DxKWVqYJUKn
    -----END CERTIFICATE-----

    """

  /// Its key.
  public static let renewedKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgrvkwNq1O16kavNS4
    Mbo13IBXwxlRontj6trmnUNVXSmhRANCAARgjjGKNewhiNmSqH24dAhAhTHaSaNX
    Lf5l3CwPgI2iYR1Da0mOcnqcA2+nfxHDamAthSKjY3sFoPUlE62HzsBm
    -----END PRIVATE KEY-----

    """

  /// For `play.example` and `*.games.example`.
  public static let other = """
    -----BEGIN CERTIFICATE-----
    MIIByjCCAXGgAwIBAgIUWlOsiDx5eMeEO7MQ/eroKMafxBUwCgYIKoZIzj0EAwIw
    IjEgMB4GA1UEAwwXRG91Ymxvb24gdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIyMDIz
    MzQ0WhgPMjEyNjEwMjkwMjMzNDRaMBcxFTATBgNVBAMMDHBsYXkuZXhhbXBsZTBZ
    MBMGByqGSM49AgEGCCqGSM49AwEHA0IABA2kvBAhqo5/EKElIc+KtyX1BTHnKWZy
    9OtJ+YGgDrBqgz8lgPDJzXKcnUHNF5Rivp7c2pn2BmEJsUZylzHe9syjgY0wgYow
    KAYDVR0RBCEwH4IMcGxheS5leGFtcGxlgg8qLmdhbWVzLmV4YW1wbGUwCQYDVR0T
    BAIwADATBgNVHSUEDDAKBggrBgEFBQcDATAdBgNVHQ4EFgQUUp3CEVH61XWMvVFu
    iOS5lp5fkOwwHwYDVR0jBBgwFoAUIxM/A6XvxW55abZ2VQ80UmlZoRUwCgYIKoZI
    zj0EAwIDRwAwRAIgQibdf9WYtHQvoLX2QFflCUifu8a+ndNgTu+CNzmhGYoCIBfO
    FSKakcfTqCyakqtxgd7340Ysj11nwhqhfgimbTR/
    -----END CERTIFICATE-----

    """

  /// Its key.
  public static let otherKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgr1uS0EQaloU8dNri
    6Tl9vVNN4XgJzQ9YTPTLQ6I8XWKhRANCAAQNpLwQIaqOfxChJSHPircl9QUx5ylm
    cvTrSfmBoA6waoM/JYDwyc1ynJ1BzReUYr6e3NqZ9gZhCbFGcpcx3vbM
    -----END PRIVATE KEY-----

    """
}
