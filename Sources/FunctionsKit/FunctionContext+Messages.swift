public import TreeModel

extension FunctionContext {
  /// Says that something happened to a player: a published in-app message that waits for this name appears, once.
  ///
  /// Nothing is kept where no published message waits for it. Rewards need no such call: messages may wait for them by
  /// themselves (`{"server": "reward"}`).
  ///
  /// - `name`: 1 to 40 of `a-z` and `_`, as in the message's trigger.
  /// - `parameters`: at most 20 values, for the message's texts and conditions.
  /// - `once`: a key under which it happens only once; without one, this event and function make it happen once.
  public func message(_ name: String, to player: UserID, parameters: [String: Scalar] = [:], once key: String? = nil)
    async throws
  {
    try mutate { effects in
      guard (1...40).contains(name.utf8.count), name.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == 0x5F }) else {
        throw FunctionContextError("A message's event has 1 to 40 of a-z and \"_\"; \(name) has not.")
      }
      guard parameters.count <= 20 else { throw FunctionContextError("A message's event has at most 20 parameters.") }
      for (name, value) in parameters {
        guard (value.stringValue?.utf8.count ?? 0) <= 1000 else {
          throw FunctionContextError("The parameter \(name) of a message's event has more than 1000 bytes.")
        }
      }
      effects.playerEvents.append(
        FunctionEffects.PlayerMessage(name: name, player: player.text, parameters: parameters, key: key))
    }
  }
}
