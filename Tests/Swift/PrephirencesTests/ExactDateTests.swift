internal import Foundation
internal import Prephirences
internal import Testing

/// Dates keep the fractions of their seconds, which XML property lists drop.
@Suite("Exact dates")
struct ExactDateTests {
  private static let dates: [Date] = {
    let wholes: [Double] = [1, 60, -1, -60, 86_400, -86_400, 1e9, -1e9, 3.3e10, 827_280_000]
    let edges = wholes.flatMap { [$0, $0.nextUp, $0.nextDown, $0 + 0.5, $0 - 0.125] }
    let others = (0..<100).map { _ in Double.random(in: -3e9...3e10) }
    return (edges + others).map(Date.init(timeIntervalSinceReferenceDate:))
  }()

  @Test func comeBackFromAFile() throws {
    let folder = try TemporaryFolder()
    for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
      let plist = try Plist(openingFile: folder("\(format.rawValue).plist"), format: format)
      plist["dates"] = Self.dates
      for (number, date) in Self.dates.enumerated() { plist["\(number)"] = date }
      try plist.writeFile()
      try plist.readFile()
      let isKept = plist["dates"] as? [Date] == Self.dates
      #expect(isKept)
      for (number, date) in Self.dates.enumerated() {
        #expect(plist["\(number)"] as? Date == date, "\(date.timeIntervalSinceReferenceDate)")
      }
    }
  }

  @Test(arguments: [1.75, 1.25, 2, 0, 2.125, 500])
  func valuesSetByFoundationAreRead(_ seconds: Double) throws {
    let defaults = try #require(UserDefaults(suiteName: "dates-\(UUID().uuidString)"))
    defer { defaults.clearAll() }
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    defaults["a"] = Date(timeIntervalSinceReferenceDate: 1.125)
    #expect((defaults["a"] as? Date)?.timeIntervalSinceReferenceDate == 1.125)
    defaults.set(date, forKey: "a")
    #expect(defaults["a"] as? Date == date)
  }
}
