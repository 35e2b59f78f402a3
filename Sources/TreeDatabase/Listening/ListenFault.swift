import StorageCore

/// What kept a message from being made: the listens that it was for end, or begin anew.
struct ListenFault: Error {
  let end: ListenEnd

  static let tooLarge = ListenFault(end: .tooLarge)

  init(end: ListenEnd) {
    self.end = end
  }

  init(_ error: StorageError) {
    end = .failed(error.description)
  }
}
