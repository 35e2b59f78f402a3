/// Has what is done in any order answered in the order in which it began. Pure.
struct AnswerOrder<Answer> {
  private var answers: [Answer?] = []
  /// The number of the first.
  private var first = 0

  /// How many have begun and are not answered.
  var count: Int { answers.count }

  /// Whether everything before this number is answered.
  func isNext(_ number: Int) -> Bool { number == first }

  /// Something begins.
  ///
  /// - Returns: its number.
  mutating func begin() -> Int {
    answers.append(nil)
    return first + answers.count - 1
  }

  /// Something that is done already takes its place behind what has begun.
  mutating func append(_ answer: Answer) { answers.append(answer) }

  /// What has this number is done.
  mutating func finish(_ number: Int, _ answer: Answer) { answers[number - first] = answer }

  /// The next answer; nil while what it belongs to is not done.
  mutating func next() -> Answer? {
    guard let oldest = answers.first, let answer = oldest else { return nil }
    answers.removeFirst()
    first += 1
    return answer
  }
}
