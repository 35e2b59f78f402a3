/// What waits for a turn, shared fairly: networks take turns, and within a network its accounts do.
///
/// Bounded as a whole, for each network and for each account in a network. When the whole is full, a newcomer takes the
/// place of the last one of the network that has most: a flood is pushed out by everybody else.
///
/// A value without a lock and a clock. Of at most a few dozen entries, so arrays are searched.
struct FairQueue<Element> {
  /// How many may wait.
  struct Bounds: Sendable, Hashable {
    /// Of all networks.
    var total: Int
    /// Of one network.
    var perNetwork: Int
    /// Of one account from one network.
    var perAccount: Int
  }

  /// What became of an element that was added.
  enum Admission {
    case waits
    /// It waits, and this one does no longer.
    case displaced(Element)
    /// There is no room for it.
    case refused
  }

  private struct Account {
    let name: String
    var elements: [Element]
  }

  private struct Network {
    let name: String
    /// In the order of their turns; none is empty.
    var accounts: [Account]
    var count: Int { accounts.reduce(0) { $0 + $1.elements.count } }
  }

  let bounds: Bounds
  /// In the order of their turns; none is empty.
  private var networks: [Network] = []
  /// How many wait.
  private(set) var count = 0

  /// - Precondition: every bound is at least one.
  init(bounds: Bounds) {
    precondition(
      bounds.total > 0 && bounds.perNetwork > 0 && bounds.perAccount > 0, "A queue that takes nothing is no queue.")
    self.bounds = bounds
  }

  /// Adds an element behind those of the same account from the same network.
  mutating func add(_ element: Element, network: String, account: String) -> Admission {
    let index = networks.firstIndex { $0.name == network }
    let own = index.map { networks[$0].count } ?? 0
    let ofAccount = index.flatMap { networks[$0].accounts.first { $0.name == account }?.elements.count } ?? 0
    guard own < bounds.perNetwork, ofAccount < bounds.perAccount else { return .refused }
    var displaced: Element?
    if count >= bounds.total {
      guard let largest = networks.indices.max(by: { networks[$0].count < networks[$1].count }),
        networks[largest].count > own + 1
      else { return .refused }
      displaced = removeLast(ofNetworkAt: largest)
    }
    insert(element, network: network, account: account)
    return displaced.map { .displaced($0) } ?? .waits
  }

  /// Takes whose turn it is; nil if nobody waits.
  mutating func next() -> Element? {
    guard !networks.isEmpty else { return nil }
    var network = networks.removeFirst()
    var account = network.accounts.removeFirst()
    let element = account.elements.removeFirst()
    count -= 1
    if !account.elements.isEmpty { network.accounts.append(account) }
    if !network.accounts.isEmpty { networks.append(network) }
    return element
  }

  private mutating func insert(_ element: Element, network: String, account: String) {
    count += 1
    guard let index = networks.firstIndex(where: { $0.name == network }) else {
      networks.append(Network(name: network, accounts: [Account(name: account, elements: [element])]))
      return
    }
    if let accountIndex = networks[index].accounts.firstIndex(where: { $0.name == account }) {
      networks[index].accounts[accountIndex].elements.append(element)
    } else {
      networks[index].accounts.append(Account(name: account, elements: [element]))
    }
  }

  /// Takes the youngest element of the account that has most; the network has at least two elements and stays.
  private mutating func removeLast(ofNetworkAt index: Int) -> Element? {
    let accounts = networks[index].accounts
    guard let most = accounts.indices.max(by: { accounts[$0].elements.count < accounts[$1].elements.count }) else {
      return nil
    }
    count -= 1
    let element = networks[index].accounts[most].elements.removeLast()
    if networks[index].accounts[most].elements.isEmpty { networks[index].accounts.remove(at: most) }
    return element
  }
}
