public import TreeModel

extension JSON {
  /// A value as JSON: members in the order in which the type declares them, nil left out.
  ///
  /// The types of this target encode into objects, lists, texts, numbers and booleans and cannot fail; one that does is a
  /// mistake of the program.
  package init(encoding value: some Encodable) {
    let slot = EncodingSlot()
    do {
      try slot.encode(value)
    } catch {
      preconditionFailure("\(type(of: value)) cannot be encoded: \(error)")
    }
    self = slot.json
  }
}

/// Where one value goes that is being encoded. A reference, because containers of `Encoder` outlive the call that makes them.
private final class EncodingSlot {
  private enum Content {
    case empty
    case value(JSON)
    case object([(key: String, slot: EncodingSlot)])
    case array([EncodingSlot])
  }

  private var content = Content.empty

  /// What was encoded; nothing is `null`.
  var json: JSON {
    switch content {
    case .empty: .null
    case .value(let value): value
    case .object(let members): .object(members.map { JSON.Member(key: $0.key, value: $0.slot.json) })
    case .array(let elements): .array(elements.map(\.json))
    }
  }

  var count: Int {
    if case .array(let elements) = content { elements.count } else { 0 }
  }

  func set(_ value: JSON) { content = .value(value) }

  func encode<Value: Encodable>(_ value: Value) throws {
    switch value {
    case let json as JSON: content = .value(json)
    case let text as String: content = .value(.string(text))
    case let flag as Bool: content = .value(.bool(flag))
    case let number as Int64: content = .value(.int(number))
    case let number as Int: content = .value(.int(Int64(number)))
    case let number as Double: content = .value(.double(number))
    default: try value.encode(to: ValueEncoder(slot: self))
    }
  }

  /// Makes this an object, if it is none yet: several containers of one value share its members.
  func beginObject() {
    if case .object = content { return }
    content = .object([])
  }

  func beginArray() {
    if case .array = content { return }
    content = .array([])
  }

  func member(_ key: String) -> EncodingSlot {
    let slot = EncodingSlot()
    guard case .object(var members) = content else { return slot }
    content = .empty
    members.append((key, slot))
    content = .object(members)
    return slot
  }

  func element() -> EncodingSlot {
    let slot = EncodingSlot()
    guard case .array(var elements) = content else { return slot }
    content = .empty
    elements.append(slot)
    content = .array(elements)
    return slot
  }
}

private struct ValueEncoder: Encoder {
  let slot: EncodingSlot
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Name: CodingKey>(keyedBy type: Name.Type) -> KeyedEncodingContainer<Name> {
    slot.beginObject()
    return KeyedEncodingContainer(ObjectEncoder<Name>(slot: slot))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    slot.beginArray()
    return ListEncoder(slot: slot)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleEncoder(slot: slot) }
}

private struct ObjectEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let slot: EncodingSlot
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) { slot.member(key.stringValue).set(.null) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try slot.member(key.stringValue).encode(value) }

  func nestedContainer<Name: CodingKey>(keyedBy type: Name.Type, forKey key: Key) -> KeyedEncodingContainer<Name> {
    ValueEncoder(slot: slot.member(key.stringValue)).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    ValueEncoder(slot: slot.member(key.stringValue)).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { ValueEncoder(slot: slot.member("super")) }
  func superEncoder(forKey key: Key) -> any Encoder { ValueEncoder(slot: slot.member(key.stringValue)) }
}

private struct ListEncoder: UnkeyedEncodingContainer {
  let slot: EncodingSlot
  var codingPath: [any CodingKey] { [] }
  var count: Int { slot.count }

  func encodeNil() { slot.element().set(.null) }

  func encode<Value: Encodable>(_ value: Value) throws { try slot.element().encode(value) }

  func nestedContainer<Name: CodingKey>(keyedBy type: Name.Type) -> KeyedEncodingContainer<Name> {
    ValueEncoder(slot: slot.element()).container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { ValueEncoder(slot: slot.element()).unkeyedContainer() }
  func superEncoder() -> any Encoder { ValueEncoder(slot: slot.element()) }
}

private struct SingleEncoder: SingleValueEncodingContainer {
  let slot: EncodingSlot
  var codingPath: [any CodingKey] { [] }

  func encodeNil() { slot.set(.null) }
  func encode<Value: Encodable>(_ value: Value) throws { try slot.encode(value) }
}

extension JSON: Encodable {
  /// Any value, as it is.
  public func encode(to encoder: any Encoder) throws {
    guard let encoder = encoder as? ValueEncoder else {
      throw EncodingError.invalidValue(
        self, .init(codingPath: encoder.codingPath, debugDescription: "this encoder does not take JSON"))
    }
    encoder.slot.set(self)
  }
}
