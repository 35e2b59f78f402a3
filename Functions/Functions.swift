public import FunctionsKit

/// This deployment's functions. Add yours here, one file each.
public func registerFunctions(_ functions: Functions) {
  functions.referrer(at: Users.referredBy)
  grantSignupReward(functions)
  rewardReferrals(functions)
}
