import Foundation
import Prephirences

@testable import PreferenceCommands

/// Values of every type, with those that other forms lose.
let difficultValues: [String: any Sendable] =
  ([
    "zero": 0, "Int.max": Int.max, "Int.min": Int.min, "Int.max - 1": Int.max - 1,
    "UInt64.max": UInt64.max, "beyond Int": UInt64(Int64.max) + 1,
    "beyond the digits of Double": Int(1) << 53 + 1,
    "true": true, "false": false, "one": 1, "whole double": 1.0, "negative zero": -0.0,
    "tenth": 0.1, "float": Float(0.1), "greatest float": Float.greatestFiniteMagnitude,
    "tiny": Double.leastNonzeroMagnitude, "huge": Double.greatestFiniteMagnitude,
    "infinite": Double.infinity, "not a number": Double.nan, "infinite float": -Float.infinity,
    "fraction": Date(timeIntervalSinceReferenceDate: 1.25),
    "tenth of a second": Date(timeIntervalSinceReferenceDate: 812_345_678.1),
    "just before 2001": Date(timeIntervalSinceReferenceDate: -0.1),
    "long before 2001": Date(timeIntervalSinceReferenceDate: -1_234_567_890.123),
    "moment after 2001": Date(timeIntervalSinceReferenceDate: 1e-300),
    "moment before 2001": Date(timeIntervalSinceReferenceDate: -1e-20),
    "distant past": Date.distantPast, "distant future": Date.distantFuture,
    "no year": Date(timeIntervalSinceReferenceDate: 1e300),
    "URL": URL(string: "https://example.com/a?b=c#d"),
    "relative URL": URL(string: "../a%20b?c", relativeTo: URL(string: "https://example.com/x/")),
    "UUID": UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
    "decimal": Decimal(string: "12345678901234567890.123456789"),
    "data": Data([0, 255, 10, 13]), "no data": Data(), "no text": "",
    "text\0with zero": "a\0b", "e\u{301}": "e\u{301} is not \u{E9}",
    "controls": "\u{1B}[2J\u{7F}\r\n",
    "bidi": "\u{202E}abc", "emoji": "👩‍👩‍👧‍👦", "quotes": "\"\\'`$",
    "array": [1, "two", 3.0, [true], [String: Int]()] as [any Sendable],
    "dictionary": ["a": [Float(1.5)], "b": ["c": Date(timeIntervalSinceReferenceDate: 0.5)]]
      as [String: any Sendable],
    "looks like a tag": ["$date": "not a date"], "looks like its escape": ["$dict": ["$dict": 1]],
  ] as [String: (any Sendable)?]).compactMapValues(\.self)
