internal import Foundation
internal import Testing

@testable internal import PreferencesCore

/// What is read is what Foundation reads, in lists that Foundation wrote, and in damaged ones.
@Suite("Property lists of Foundation, whole and damaged")
struct PropertyListTableTests {
  /// Makes the same lists in every run.
  private struct Generator: RandomNumberGenerator {
    private var state: UInt64 = 7

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var bits = state
      bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
      bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
      return bits ^ (bits >> 31)
    }

    mutating func pick(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &self) }

    mutating func text() -> String {
      let scalars = Array("ab \u{E9}\u{301}<&>\"'\n\t\u{1F600}\0\u{DF}0-".unicodeScalars)
      let picked = (0..<pick(0...20)).map { _ in scalars[pick(0...scalars.count - 1)] }
      return "x" + String(String.UnicodeScalarView(picked))
    }

    mutating func value(depth: Int = 0) -> Any {
      switch pick(0...(depth > 3 ? 6 : 9)) {
      case 0: return text()
      case 1: return pick(0...1) == 1
      case 2: return Int(truncatingIfNeeded: next() >> UInt64(pick(0...63)))
      case 3: return [UInt64.max, 1 << 63, 7][pick(0...2)]
      case 4:
        let number = Double(bitPattern: next() & 0xBFFF_FFFF_FFFF_FFFF)
        return [0, 1, 0.1, -2.5e300, .infinity, .nan, number][pick(0...6)]
      case 5: return Data((0..<pick(0...100)).map { _ in UInt8(truncatingIfNeeded: next()) })
      case 6:
        return Date(timeIntervalSinceReferenceDate: Double(pick(-1_000_000_000...9_999_999_999)))
      case 7, 8: return (0..<pick(0...4)).map { _ in value(depth: depth + 1) }
      default:
        var dictionary: PreferencesDictionary = [:]
        for _ in 0..<pick(0...4) { dictionary[text()] = value(depth: depth + 1) }
        return dictionary
      }
    }

    mutating func damaged(_ data: Data, from start: Int) -> Data {
      var data = data
      let index = pick(start...data.count - 1)
      switch pick(0...2) {
      case 0: data = data.prefix(index)
      case 1: data[index] ^= 1 << UInt8(pick(0...7))
      default: data[index] = UInt8(truncatingIfNeeded: next())
      }
      return data
    }
  }

  /// Returns XML of Foundation, which shows the type of each value; `nil` if Foundation reads nothing.
  private func form(inFoundation data: Data) -> String? {
    guard let root = try? PropertyListSerialization.propertyList(from: data, format: nil),
      let form = try? PropertyListSerialization.data(
        fromPropertyList: root, format: .xml, options: 0)
    else { return nil }
    return String(decoding: form, as: UTF8.self)
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func theValuesAreThoseOfFoundation(format: PropertyListSerialization.PropertyListFormat) throws {
    var generator = Generator()
    let start = format == .xml ? 170 : 8
    var damagedThatAreRead = 0
    for _ in 0..<200 {
      let whole = try PropertyListSerialization.data(
        fromPropertyList: [generator.value()], format: format, options: 0)
      for data in [whole] + (0..<10).map({ _ in generator.damaged(whole, from: start) }) {
        guard let read = try? PropertyListReader.read(data) else {
          #expect(data != whole)
          continue
        }
        if data != whole { damagedThatAreRead += 1 }
        // A damaged date may be outside of the calendar, which XML lacks.
        guard let form = try? PropertyListWriter.data(of: read.root, format: .xml) else { continue }
        let ours = String(decoding: form, as: UTF8.self)
          .replacing("<real>-0.0<", with: "<real>0.0<").replacing("&#13;", with: "\r")
        guard let theirs = self.form(inFoundation: data) else {
          // Foundation refuses an empty text in UTF-16.
          #expect(format == .binary && data != whole, "\(data.base64EncodedString())")
          continue
        }
        #expect(ours == theirs, "\(data.base64EncodedString())")
      }
    }
    #expect(damagedThatAreRead > 50)
  }

  // MARK: Hostile lists

  /// Returns a binary list of objects, which have references of four bytes.
  private static func binary(_ objects: [[UInt8]]) -> Data {
    var data = Data("bplist00".utf8)
    var offsets: [Int] = []
    for object in objects {
      offsets.append(data.count)
      data += object
    }
    let table = data.count
    for offset in offsets { data += bytes(offset) }
    data += [0, 0, 0, 0, 0, 0, 4, 4] as [UInt8]
    for number in [objects.count, 0, table] { data += [0, 0, 0, 0] + bytes(number) }
    return data
  }

  private static func bytes(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  private static let hostile: [String: Data] = [
    "cycle": binary([[0xA1] + bytes(0)]),
    "cycle of two": binary([[0xA1] + bytes(1), [0xA1] + bytes(0)]),
    "cycle of keys": binary([[0xD1] + bytes(0) + bytes(0)]),
    "2^40": binary((0..<40).map { [0xA2] + bytes($0 + 1) + bytes($0 + 1) } + [[0x51, 0x61]]),
    "30,000 arrays": binary((0..<30_000).map { [0xA1] + bytes($0 + 1) } + [[0x09]]),
    "128 bits": binary([[0x14] + [UInt8](repeating: 0x7F, count: 16)]),
    "reference": binary([[0x80, 1]]),
    "set": binary([[0xC1] + bytes(1), [0x09]]),
    "key that is no text": binary([[0xD1] + bytes(1) + bytes(1), [0x09]]),
    "missing object": binary([[0xA1] + bytes(2), [0x09]]),
    "null": binary([[0x00]]),
    "length": binary([[0x5F, 0x13] + [UInt8](repeating: 0x7F, count: 8)]),
    "arrays": Data(String(repeating: "<array>", count: 100_000).utf8),
    "dictionaries": Data(String(repeating: "<dict><key>k</key>", count: 100_000).utf8),
    "integer": Data("<integer>340282366920938463463374607431768211455</integer>".utf8),
    "entities": Data("<!DOCTYPE a [<!ENTITY b 'c'>]><string>&b;</string>".utf8),
    "parentheses": Data(String(repeating: "(", count: 100_000).utf8),
  ]

  @Test func hostileListsEndInMilliseconds() {
    for (name, data) in Self.hostile {
      let time = ContinuousClock().measure {
        #expect(throws: PropertyListDamage.self, "\(name)") { try PropertyListReader.read(data) }
        #expect(MarkedArchive.value(of: data) == nil, "\(name)")
      }
      // Many times what is needed, because other processes may run.
      #expect(time < .seconds(2), "\(name)")
    }
  }
}
