// swift-format-ignore-file
import Foundation
import SwiftyUserDefaults
import Testing

// Codable

final class FrogCodable: Codable, DefaultsSerializable {
  let name: String

  init(name: String) { self.name = name }
}

// NSCoding

final class FrogSerializable: NSObject, NSCoding, DefaultsSerializable {
  let name: String

  init(name: String) { self.name = name }

  init?(coder: NSCoder) {
    name = coder.decodeObject(forKey: "name") as? String ?? ""
  }

  func encode(with coder: NSCoder) { coder.encode(name as NSString, forKey: "name") }
}

// RawRepresentable

enum BestFroggiesEnum: String, DefaultsSerializable {
  case Andy
  case Dandy
}

@Suite struct TypeTests {
  @Test func codable() async {
    await #expect(processExitsWith: .success) {
      beginSample()
      defer { endSample() }
      let frog = DefaultsKey<FrogCodable?>("frog")
      let froggies = DefaultsKey<[FrogCodable]?>("froggies")
      Defaults[key: frog] = FrogCodable(name: "Froggy")
      Defaults[key: froggies] = [FrogCodable(name: "Froggy"), FrogCodable(name: "Andy")]
      #expect(Defaults[key: frog]?.name == "Froggy")
      #expect(Defaults[key: froggies]?.map(\.name) == ["Froggy", "Andy"])
    }
  }

  @Test func nsCoding() async {
    await #expect(processExitsWith: .success) {
      beginSample()
      defer { endSample() }
      let frog = DefaultsKey<FrogSerializable?>("frog")
      let froggies = DefaultsKey<[FrogSerializable]?>("froggies")
      Defaults[key: frog] = FrogSerializable(name: "Froggy")
      Defaults[key: froggies] = [FrogSerializable(name: "Froggy")]
      #expect(Defaults[key: frog]?.name == "Froggy")
      #expect(Defaults[key: froggies]?.map(\.name) == ["Froggy"])
    }
  }

  @Test func rawRepresentable() async {
    await #expect(processExitsWith: .success) {
      beginSample()
      defer { endSample() }
      let frog = DefaultsKey<BestFroggiesEnum?>("frog")
      let froggies = DefaultsKey<[BestFroggiesEnum]?>("froggies")
      Defaults[key: frog] = .Andy
      Defaults[key: froggies] = [.Andy, .Dandy]
      #expect(Defaults[key: frog] == .Andy)
      #expect(Defaults[key: froggies] == [.Andy, .Dandy])
    }
  }
}
