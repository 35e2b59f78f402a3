/// RSA keys made for tests: making one takes long, and a fixed one makes tokens that come again.
public enum TestKeys {
  /// A private key of 2048 bits, PKCS #8.
  public static let first = """
    -----BEGIN PRIVATE KEY-----
    MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDrvF44C+QqZC65
    OSkfIywP5P05CWSOnZV9GF4WQGf4db0D1/Y5nHQIw7JD5JJBcTGx8bDi5OhJSt9p
    PeNhlHpx9MJfAinectX9TJL/GH8zdvZMtBsS5YurP9gifaUPVerg6xU4RZJgHzRm
    UAneohHsTUOpSpCUKo9j8AxnI6YbfcwYrWFFjpXGoUBz2MNf1cvwUVlPN3v98p00
    9KSp4513LW+LdCG+WWE7AlTWGnnsA8p7NjxSygO8ZMRkmBOZrXwEg2ejYTuFB0kp
    lqyf4ZT8DS4Iyi0QoOGffznxD/PsNRkW/uAZ1LZWZSGpM15u0S8mirrTsLBBcsB4
    xC4qqCcXAgMBAAECggEAY8X0MtCFn5OLWwXga7ddPNT0gCGDmAEGdk3L9KsJ1lUu
    zOOo6TVYvyTk3Gtvo5cfK2taLI4p6mtwJ4D0LibDtFudsMyfn/EGtRCl3qYloEin
    ckuAcf0Jok+BUQfQxq7cnJmi/5AipeBPM0aJBtudrl/9VTej/bINwoSlGzoxYcyK
    jc3qcv0trt2lmScSrNEzLS9LbBMAaszyzUY370GwpCV8sLm5rRScds8OLwxt7sHO
    2x5WN8B9QgTKlnFEC5MfBBrk6TeY96bl4I5fgzZvk5jDAJV8id4DxfcNLdmbzDhe
    TRcvODbmB49/w5FsiufJuy1jps1cd4XwJug1HZsvwQKBgQD5mQPjcVzF0Pte9q9k
    lAYZ8kLzxk3LJD/gEt0tqSmMVOfOZ+JGsoMDbiCcxcm8UHZgJbg11OSlv1xSaGED
    qeCf7hmlWoBFkE7qiTwrgIGEW2GA6+xiRCzBAF4WMUIVdl0Mq3vja7TJlItCViIS
    xuBKiKz+TgGc7frVKvc4jIfdkQKBgQDxyFQeciDcfg/dZvfnPewogqz8YgkVhkWd
    wHShweXVM2svRFRipyTbGfytd7bAWNPbN5jaAZJn1yyeQW+A7nXgzTUyya1P91ew
    T1sJ/uOON+8xD0bF/Kl1CD4b2/IuErh60ykXc1CnILaawpBhfUMVIo2xaJDKvUS3
    7SFoFIQGJwKBgGOgZwPu6NfwvZU/I+0ihHjw0Taajcyq8HARN4WVQwdHkKs7nf8Y
    G+FPoObSr95hw45HIAskqgtaoZAnJ6odsZJEqKnuwMqDemx1ULYQeiIJk5axFM54
    ZeC3s9Zp3PXSI/v9qtqw0B2yFA/rb3hNN5OokFyFaHFqMDfMCZfhyA1xAoGBAOvR
    J7pKNiLYEUEwHLo9ewhH69B9Db8gpuWlwBvEshWvgOspCeTugNPyFLBcArK38Gnv
    X/XBcro09B+mUsq9ydroSuquKYvFApHD1Fd7cxZTF8gRzkVsmRq8X1dsvliRibzC
    F2H35sIa9f8bpRZwxeznNqvCAPa8gzmg3uRUnjAhAoGBAK/fOTyX9nQOGZNblxNd
    ErKf4/OpnRysqwuWNeUJs3FYgQcF0vizbdBdFK9tDt5VshDvxlu2Am2zaxVb+1Yh
    f8JVDYamTsZJ64FugLB7TTLaIam+0FnBWOOX51JwvcRG8/ULJlxDurGOSPPsInvk
    7uHrAQLpqc+o6CTzw4LWS91S
    -----END PRIVATE KEY-----
    """

  /// Another.
  public static let second = """
    -----BEGIN PRIVATE KEY-----
    MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC9qu/X8nTF7mLg
    G4lMgB6MVLb+oz9FnHXEd7TchtCBN0Pl2woe+NlBP03hSo9DaGpxfr5Sn6ZcSp0D
    aXLT/f5OljNQ3LvvGI1FEHf5ehaEvy3FSV+wjvzUJuzgYwMd+EYiNZQkXFtmlHQN
    pkHc07s3AOVYypl6GdKVbS746IWbNdjO/84/PZPZTweYC7mqgyEFtAZfzSvWh0Cl
    p+K9FpsbpvDtCMXwP+kdtJF5618iXU0ny3yGJ98GSiuP6X4N92OWTaFZW1m1Ja82
    FJ0xBpIecMUw0xuardV/wWDFgBJT4LPP2pkhTqqevP9GXXpnZ84cLHRgDw9AVM5D
    ydGOJRQxAgMBAAECggEABrPfvfXngocmH11ZwMZWTgdAYEdMmR0qXEMOtSxeefKG
    B71x4h5RLykZi3ijD3LFMDWWbD0QF/rbCZ/UWwGC1ywfrB/g1FY9x88JLlvOJ+rJ
    p0ssgoTLEoQ9osBc/9YiRFs4XQCWik18vG6/rRoeZ5c0g6rFObdn5bfyDQHKlu2E
    opi/aP1AtFgqI8k58hEdfbmXuhHdWIgDKQkJMGV8+J4wVJsbIzSRJCNwDUYRKAkN
    kl/8cIMNnTaK009BgHzeVWD4MckiboxY3kLeLduSyjnUYMiEc+jLaoAHx/QnrSnu
    WSMzhJWe5Hj1HtgraywtxI787fF2+bSXq9/PNrKNQQKBgQDkBaYOUKCmSVOjjJ3W
    Qcarzd/XXZoxWtVImT5y1BudVXVvDoO1gSD8MI6F1R29gAHWmzgrGTkUWlU70z5t
    sTf9hGIRLrk7klLjw48xt6TmmUKTUypXYtiCA9y5AC/Kb5sqpW8Yl6KEk1SjAgow
    lk5oXMG/aklfu5zOyD/CtTMc9QKBgQDU8Ixfy5xMckMvb2xe2EJ5xIf5i/iuK4R2
    YpuYbcTmG56ch+wcjvzXoCbooszrrn428adYcdo32ewW4gUrzayEVFGGIocff12x
    EpsJPQ55zS5ZXqpl/qi+j2iagh15tToYFJVu4DTUBFmX+lhYCbziytQ22MSzJbTA
    NGlwuczUzQKBgQDCOk2IRAWTn0IvPcf0iXLBRUw2FvUQtV6XyHD5PtOG4RR21NY7
    9RIzvuin9zCuCiuGshDWJVYJkCiqHPZAWYRn3ivqlvIRXEJe4GVI5DUCd+nNtDmM
    1hW2KbQJoa8TsJ1rZh+Lwx4b76NYdpRXbrC7FMe0VMTLVvPq74fgQpiXQQKBgH4D
    3Q7T8CtNc3Ue+4MleDGXnOCRdRmdp0ZoFKygSWXj8nmv9orwE7GHlX8W2S6glRDu
    8Znlxr5GuPDR0T2a+f1V6Oj4hf6d4VRpLlbJS0fJpSQ+YZj6m+Ip/D1zwv3Dwh1+
    EPEMvja6XEsUXDO9j4qnfe73WXCrX8xfOAb97boBAoGAL0UjM8hSxasunPXtRdSW
    powW+u9Y39T8xi0GO3cChdJivmnQHZ7Yz3aSyZsfqekYiPcAsuojA3mrbyOsuKcX
    skhyyHxj4o779/B6QaDnzL8oHjh8IdcEOnoAPziWLqYso0VU2HIPFyZsbZUQiBUV
    1L6mIkdF36wkpgTy/ezZnts=
    -----END PRIVATE KEY-----
    """
}
