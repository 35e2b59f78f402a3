import Testing
import TextFormats

@Suite struct CalendarTimeTests {
  @Test(
    "a moment by the calendar",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_782_399_000, "2000-02-28T23:59:59.000Z"),
      (951_782_400_000, "2000-02-29T00:00:00.000Z"), (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
      (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (1_798_761_599_999, "2026-12-31T23:59:59.999Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (-86_400_001, "1969-12-30T23:59:59.999Z"), (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
    ] as [(Int64, String)])
  func rfc3339(_ milliseconds: Int64, _ text: String) {
    #expect(CalendarTime(milliseconds: milliseconds).rfc3339 == text)
    if milliseconds >= 0 { #expect(CalendarTime.milliseconds(rfc3339: text) == milliseconds) }
  }

  @Test("the other texts of a moment")
  func texts() {
    let time = CalendarTime(milliseconds: 784_111_777_000)
    #expect(time.httpDate == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(time.mailDate == "Sun, 06 Nov 1994 08:49:37 +0000")
    #expect(time.readable == "1994-11-06 08:49:37 UTC")
  }

  @Test(
    "a fraction may have any number of digits, or be left out",
    arguments: [
      ("1970-01-01T00:00:01Z", 1000), ("1970-01-01T00:00:01.5Z", 1500), ("1970-01-01T00:00:01.25Z", 1250),
      ("1970-01-01T00:00:01.125Z", 1125), ("1970-01-01T00:00:01.125999Z", 1125),
    ] as [(String, Int64)])
  func fractions(_ text: String, _ milliseconds: Int64) {
    #expect(CalendarTime.milliseconds(rfc3339: text) == milliseconds)
  }

  @Test(
    "what is no such time is refused",
    arguments: [
      "", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01T00:00:00+00:00", "1970-13-01T00:00:00Z", "1970-01-32T00:00:00Z",
      "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z", "1970-01-01T00:00:60Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00.Z",
      "1970-01-01T00:00:00.xZ", "1970-01-01 00:00:00Z",
    ])
  func refused(_ text: String) {
    #expect(CalendarTime.milliseconds(rfc3339: text) == nil)
  }

  @Test("every day of 400 years goes there and back, and the days of the week follow each other")
  func days() {
    var expected = CalendarTime.daysSince1970(year: 1900, month: 1, day: 1)
    for year in 1900..<2300 {
      for month in 1...12 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let count = month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
        for day in 1...count {
          #expect(CalendarTime.daysSince1970(year: year, month: month, day: day) == expected)
          #expect(CalendarTime.date(daysSince1970: expected) == (year, month, day))
          // 1900-01-01 was a Monday, 25,567 days before 1970.
          #expect(CalendarTime(milliseconds: Int64(expected) * 86_400_000).weekday == (expected + 25_568) % 7)
          expected += 1
        }
      }
    }
    #expect(CalendarTime.daysSince1970(year: 1970, month: 1, day: 1) == 0)
  }
}
