internal import Foundation
internal import Testing

@testable internal import PreferencesCore

/// Archives with a mark are those of `NSKeyedArchiver`.
@Suite("Archives with a mark")
struct MarkedArchiveTests {
  /// Archives that `NSKeyedArchiver` made, with their values.
  private static var stored: [(archive: String, value: AnyHashable?)] {
    [
      (
        """
        YnBsaXN0MDDUAQIDBAUXHB1YJG9iamVjdHNUJHRvcFkkYXJjaGl2ZXJYJHZlcnNpb26lBgcODxZVJG51bGzTCAkK\
        CwwNV05TLmJhc2VWJGNsYXNzW05TLnJlbGF0aXZlgACAA4ACXxAXaHR0cHM6Ly9hLmV4YW1wbGUvYj9jI2TSEBES\
        FVgkY2xhc3Nlc1okY2xhc3NuYW1lohMUVU5TVVJMWE5TT2JqZWN0VU5TVVJMU1VSTNIYGRobVHJvb3RfEBBQcmVw\
        aGlyZW5jZXNUeXBlgAGABF8QD05TS2V5ZWRBcmNoaXZlchIAAYagCBEaHykyOD5FTVRgYmRmgIWOmZyiq7G1ur/S\
        1NboAAAAAAAAAQEAAAAAAAAAHgAAAAAAAAAAAAAAAAAAAO0=
        """, URL(string: "https://a.example/b?c#d")
      ),
      (
        """
        YnBsaXN0MDDUAQIDBAUJDg9YJG9iamVjdHNUJHRvcFkkYXJjaGl2ZXJYJHZlcnNpb26jBgcIVSRudWxsXxAkRTYy\
        MUUxRjgtQzM2Qy00OTVBLTkzRkMtMEMyNDdBM0U2RTVGVFVVSUTSCgsMDVRyb290XxAQUHJlcGhpcmVuY2VzVHlw\
        ZYABgAJfEA9OU0tleWVkQXJjaGl2ZXISAAGGoAgRGh8pMjY8Y2htcoWHiZsAAAAAAAABAQAAAAAAAAAQAAAAAAAA\
        AAAAAAAAAAAAoA==
        """, UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
      ),
      (
        """
        YnBsaXN0MDDUAQIDBAUJDg9YJG9iamVjdHNUJHRvcFkkYXJjaGl2ZXJYJHZlcnNpb26jBgcIVSRudWxsXxAWLTEy\
        MzQ1Njc4OTAuMDk4NzY1NDMyMVdEZWNpbWFs0goLDA1Ucm9vdF8QEFByZXBoaXJlbmNlc1R5cGWAAYACXxAPTlNL\
        ZXllZEFyY2hpdmVyEgABhqAIERofKTI2PFVdYmd6fH6QAAAAAAAAAQEAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAJU=
        """, Decimal(string: "-1234567890.0987654321")
      ),
      (
        """
        YnBsaXN0MDDUAQIDBAUJDg9YJG9iamVjdHNUJHRvcFkkYXJjaGl2ZXJYJHZlcnNpb26jBgcIVSRudWxsVjFlKzMw\
        MFREYXRl0goLDA1Ucm9vdF8QEFByZXBoaXJlbmNlc1R5cGWAAYACXxAPTlNLZXllZEFyY2hpdmVyEgABhqAIERof\
        KTI2PENITVJlZ2l7AAAAAAAAAQEAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAIA=
        """, Date(timeIntervalSinceReferenceDate: 1e300)
      ),
      (
        """
        YnBsaXN0MDDUAQIDBAUJDg9YJG9iamVjdHNUJHRvcFkkYXJjaGl2ZXJYJHZlcnNpb26jBgcIVSRudWxsZP7/AGEA\
        AADpVlN0cmluZ9IKCwwNVHJvb3RfEBBQcmVwaGlyZW5jZXNUeXBlgAGAAl8QD05TS2V5ZWRBcmNoaXZlchIAAYag\
        CBEaHykyNjxFTFFWaWttfwAAAAAAAAEBAAAAAAAAABAAAAAAAAAAAAAAAAAAAACE
        """, "\u{FEFF}a\0\u{E9}"
      ),
    ]
  }

  private static let urls = [
    "http://a.example/x", "x", "mailto:a@b.example", "file:///a%20b/c", "root", "NSURL",
    "https://u:p@h.example:8/p;x?q=1#f", "//h.example/x", "?q", "#f", "http://[::1]/",
    "http://h.example/" + String(repeating: "x", count: 70_000),
  ].compactMap(URL.init(string:))

  private static let texts = [
    "", "a\u{1}", "\u{FEFF}x", "\0", "\u{E9}\u{1}", "$null", "UUID", "\u{1F600}\u{1}",
    String(repeating: "\u{1}", count: 100_000), String(repeating: "\u{1}\u{E9}", count: 200),
  ]

  private static let decimals = ["0", "-1.5", "1e100", "-1e-100", "3.14159265358979323846264338"]
    .compactMap { Decimal(string: $0) }

  private static let dates = [0, -1e-20, 1e300, -1e300, .infinity, 63_113_904_000.5]
    .map(Date.init(timeIntervalSinceReferenceDate:))

  /// Values, their archives, and those of Foundation.
  private static var archives: [(value: AnyHashable, ours: Data, theirs: Data)] {
    let relative = ["x", "../y", "?q"].compactMap {
      URL(string: $0, relativeTo: URL(string: "http://a.example/b/c"))
    }
    let files = [URL(fileURLWithPath: "/tmp/a b"), URL(fileURLWithPath: "a")]
    var archives: [(value: AnyHashable, ours: Data, theirs: Data)] = []
    func add(_ value: some Hashable, _ ours: MarkedArchive, _ text: String, _ mark: String) {
      archives.append((AnyHashable(value), ours.data, archive(text as NSString, mark)))
    }
    for url in urls + relative + files {
      archives.append(
        (AnyHashable(url.absoluteURL), MarkedArchive(url).data, archive(url as NSURL, "URL")))
    }
    for text in texts { add(text, MarkedArchive(text), text, "String") }
    for decimal in decimals { add(decimal, MarkedArchive(decimal), decimal.description, "Decimal") }
    for date in dates {
      add(date, MarkedArchive(date), date.timeIntervalSinceReferenceDate.description, "Date")
    }
    let uuid = UUID()
    add(uuid, MarkedArchive(uuid), uuid.uuidString, "UUID")
    return archives
  }

  private static func archive(_ object: some NSObject & NSCoding, _ mark: String) -> Data {
    let archiver = NSKeyedArchiver(requiringSecureCoding: false)
    archiver.encode(object, forKey: NSKeyedArchiveRootObjectKey)
    archiver.encode(mark as NSString, forKey: "PrephirencesType")
    archiver.finishEncoding()
    return archiver.encodedData
  }

  /// Returns a list as it is written again, with dictionaries in their order or sorted.
  private func rewritten(_ data: Data, sorted: Bool) throws -> Data {
    let list = try #require(BinaryPropertyList(data))
    return PropertyListWriter.data(of: try node(list.root, of: list, sorted: sorted))
  }

  private func node(
    _ index: Int, of list: BinaryPropertyList, sorted: Bool
  ) throws -> PropertyListNode {
    switch list.objects[index] {
    case .scalar(.string(let text)): return .string(text)
    case .reference(let reference): return .reference(reference)
    case .scalar(.integer(let number)): return .integer(Int(number))
    case .array(let elements):
      return .array(try elements.map { try node($0, of: list, sorted: sorted) })
    case .dictionary(let pairs):
      var nodes: [(key: String, value: PropertyListNode)] = []
      for (key, value) in pairs {
        guard case .scalar(.string(let key)) = list.objects[key] else { continue }
        nodes.append((key, try node(value, of: list, sorted: sorted)))
      }
      return .dictionary(sorted ? nodes.sorted { $0.key < $1.key } : nodes)
    default: throw PropertyListDamage("an archive of another form")
    }
  }

  /// The order of a dictionary is different in every process with Foundation.
  ///
  /// Beside that, every byte is the same.
  @Test func theBytesAreThoseOfFoundation() throws {
    for (value, ours, theirs) in Self.archives {
      #expect(try rewritten(theirs, sorted: false) == theirs, "\(value)")
      #expect(ours.count == theirs.count, "\(value)")
      #expect(try rewritten(ours, sorted: true) == rewritten(theirs, sorted: true), "\(value)")
    }
  }

  @Test func eachReadsTheOther() throws {
    for (value, ours, theirs) in Self.archives {
      #expect(MarkedArchive.value(of: ours)?.object as? AnyHashable == value)
      #expect(MarkedArchive.value(of: theirs)?.object as? AnyHashable == value)
      guard value as? String != "$null" else { continue }
      let unarchiver = try NSKeyedUnarchiver(forReadingFrom: ours)
      unarchiver.requiresSecureCoding = false
      unarchiver.decodingFailurePolicy = .setErrorAndReturn
      #expect(unarchiver.decodeObject(forKey: "PrephirencesType") is String)
      let root = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
      if let url = value as? URL {
        #expect((root as? NSURL)?.absoluteString == url.absoluteString)
      } else {
        #expect(root is String)
      }
    }
  }

  @Test func storedArchivesAreRead() throws {
    for (archive, value) in Self.stored {
      let data = try #require(Data(base64Encoded: archive))
      #expect(MarkedArchive.value(of: data)?.object as? AnyHashable == value)
    }
  }

  @Test func urlsWithABaseAreRead() throws {
    let base = try #require(URL(string: "http://a.example/b/c"))
    let object = try #require(NSURL(string: "x", relativeTo: base))
    let data = Self.archive(object, "URL")
    for url in [MarkedArchive.value(of: data)?.object as? URL, MarkedArchive.url(of: data)] {
      #expect(url?.relativeString == "x" && url?.baseURL == base)
    }
  }

  @Test func textsThatAreObjectsAreRead() throws {
    let text = PropertyListNode.dictionary([
      ("NS.string", .string("1.5")), ("$class", .reference(3)),
    ])
    let names = PropertyListNode.array([.string("NSMutableString"), .string("NSString")])
    let textClass = PropertyListNode.dictionary([
      ("$classname", .string("NSMutableString")), ("$classes", names),
    ])
    let data = archive([.string("$null"), text, .string("Decimal"), textClass], root: 1, mark: 2)
    #expect(MarkedArchive.value(of: data)?.object as? Decimal == Decimal(string: "1.5"))
  }

  private func archive(_ objects: [PropertyListNode], root: Int, mark: Int) -> Data {
    let top = [("root", root), ("PrephirencesType", mark)].map {
      ($0, PropertyListNode.reference($1))
    }
    return PropertyListWriter.data(
      of: .dictionary([
        ("$version", .integer(100_000)), ("$archiver", .string("NSKeyedArchiver")),
        ("$top", .dictionary(top)), ("$objects", .array(objects)),
      ]))
  }

  @Test func hostileArchivesAreNoValues() throws {
    let urlClass = PropertyListNode.dictionary([
      ("$classname", .string("NSURL")), ("$classes", .array([.string("NSURL")])),
    ])
    func url(base: Int, text: Int = 2, urlClass: Int = 3) -> PropertyListNode {
      .dictionary([
        ("NS.relative", .reference(text)), ("NS.base", .reference(base)),
        ("$class", .reference(urlClass)),
      ])
    }
    let null = PropertyListNode.string("$null")
    let mark = PropertyListNode.string("URL")
    let hostile: [[PropertyListNode]] = [
      // A base that is the URL itself, that is missing, and that is text.
      [null, url(base: 1), .string("x"), urlClass, mark],
      [null, url(base: 99), .string("x"), urlClass, mark],
      [null, url(base: 2), .string("x"), urlClass, mark],
      [null, url(base: 0, text: 0), .string("x"), urlClass, mark],
      [null, url(base: 0, text: -1 & 0xFFFF), .string("x"), urlClass, mark],
      [null, url(base: 0, urlClass: 2), .string("x"), urlClass, mark],
      [null, url(base: 0), .string("http://a b/"), urlClass, mark],
      [null, url(base: 0), .string("x"), urlClass, .string("Unknown")],
      [null, .string("x"), .string("x"), urlClass, mark],
    ]
    for objects in hostile {
      #expect(MarkedArchive.value(of: archive(objects, root: 1, mark: 4)) == nil)
    }
    let chain = (0..<10_000).map { url(base: $0 + 5) }
    let objects = [null, url(base: 5), .string("x"), urlClass, mark] + chain
    #expect(MarkedArchive.value(of: archive(objects, root: 1, mark: 4)) == nil)
    let sound = [null, url(base: 0), .string("x"), urlClass, mark]
    #expect(
      MarkedArchive.value(of: archive(sound, root: 1, mark: 4))?.object as? URL == URL(string: "x"))
  }
}
