/// What pays out rewards that wait until a player's address is confirmed. Made by ``Functions/confirmation()`` only, so that
/// nothing waits that nobody would pay out.
public struct Confirmation: Sendable {
  init() {}
}
