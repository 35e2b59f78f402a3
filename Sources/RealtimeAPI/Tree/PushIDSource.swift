import APISupport
import StorageCore
import Synchronization
import TreeDatabase
import TreeModel

/// Makes the names of children that POST adds (firebase-js-sdk, `nextPushId.ts`).
///
/// One source for all event loops, so that ids ascend in the order in which their requests were taken.
final class PushIDSource: Sendable {
  private struct State {
    var generator = PushIDGenerator()
    var random: EpochMixedRandom
  }

  private let clock: any WallClock
  private let state: Mutex<State>

  init(services: RealtimeServices) {
    clock = services.database.clock
    let epoch = services.database.engine.read { $0.epoch }
    state = Mutex(State(random: EpochMixedRandom(base: services.random, epoch: epoch)))
  }

  func next() -> Key {
    let now = clock.now()
    return state.withLock { Key(unchecked: $0.generator.next(now: now, random: &$0.random)) }
  }
}

/// Random numbers that differ between the epochs of a store even if their source repeats itself.
///
/// After a restore the clock, and in tests the random numbers, may run through the same values again; the ids made then must not
/// be those that were already given out.
struct EpochMixedRandom: RandomNumberGenerator, Sendable {
  private var base: any RandomNumberGenerator & Sendable
  private var counter: UInt64

  init(base: any RandomNumberGenerator & Sendable, epoch: Int64) {
    self.base = base
    counter = UInt64(bitPattern: epoch) &* 0xD1B5_4A32_D192_ED03
  }

  mutating func next() -> UInt64 {
    counter &+= 0x9E37_79B9_7F4A_7C15
    // The finalizer of SplitMix64: every bit of the epoch reaches every bit of the result.
    var mixed = counter
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return base.next() ^ mixed ^ mixed >> 31
  }
}
