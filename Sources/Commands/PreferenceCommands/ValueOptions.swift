internal import ArgumentParser
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The options that give the value to write, and its type.
struct ValueOptions: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: .init(
      "The type: \(ValueType.allCases.map(\.rawValue).joined(separator: ", ")), json, plist "
        + "(default: string)", valueName: "name"),
    completion: .list(ValueType.allCases.map(\.rawValue) + ["json", "plist"]),
    transform: ValueOptions.form)
  var type: WrittenForm?

  @Flag(help: "The value is JSON; the same as --type json")
  var json = false

  @Flag(help: "The value is a property list; the same as --type plist")
  var plist = false

  @Flag(help: "Take every byte of standard input, also a newline at the end")
  var raw = false

  // The spellings of `defaults`. An option's value may be a negative number.
  @Option(name: .customLong("string", withSingleDash: true), parsing: .unconditional, help: .hidden)
  var string: String?

  @Option(
    name: [
      .customLong("int", withSingleDash: true), .customLong("integer", withSingleDash: true),
    ], parsing: .unconditional, help: .hidden)
  var int: String?

  @Option(name: .customLong("float", withSingleDash: true), parsing: .unconditional, help: .hidden)
  var float: String?

  @Option(
    name: [
      .customLong("bool", withSingleDash: true), .customLong("boolean", withSingleDash: true),
    ], parsing: .unconditional, help: .hidden)
  var bool: String?

  @Option(name: .customLong("date", withSingleDash: true), parsing: .unconditional, help: .hidden)
  var date: String?

  @Option(name: .customLong("data", withSingleDash: true), parsing: .unconditional, help: .hidden)
  var data: String?

  @Option(name: .customLong("array", withSingleDash: true), parsing: .remaining, help: .hidden)
  var array: [String] = []

  @Option(name: .customLong("dict", withSingleDash: true), parsing: .remaining, help: .hidden)
  var dict: [String] = []

  @Option(name: .customLong("array-add", withSingleDash: true), parsing: .remaining, help: .hidden)
  var arrayAdd: [String] = []

  @Option(name: .customLong("dict-add", withSingleDash: true), parsing: .remaining, help: .hidden)
  var dictAdd: [String] = []

  /// The values in options of `defaults`.
  private var given: [(form: WrittenForm, words: [String], adds: Bool)] {
    let single: [(ValueType, String?)] = [
      (.string, string), (.int, int), (.float, float), (.bool, bool), (.date, date), (.data, data),
    ]
    let several: [(ValueType, [String], Bool)] = [
      (.array, array, false), (.dict, dict, false), (.array, arrayAdd, true),
      (.dict, dictAdd, true),
    ]
    return single.compactMap { kind, word in word.map { (.text(kind), [$0], false) } }
      + several.filter { !$0.1.isEmpty }.map { (.text($0), $1, $2) }
  }

  /// The named type, or `nil`.
  var form: WrittenForm? {
    given.first?.form ?? (json ? .json : plist ? .propertyList : type)
  }

  /// Whether to add the elements to the existing ones.
  var adds: Bool { given.first?.adds ?? false }

  func words(_ arguments: [String]) -> [String] { given.first?.words ?? arguments }

  /// Whether there are more arguments than a key and its value.
  func isExtra(_ arguments: [String]) -> Bool {
    given.isEmpty && form?.isCollection != true ? arguments.count > 1 : !arguments.isEmpty
  }

  /// Fails if options follow the elements of an array or dictionary, which take the rest of the
  /// line.
  func checkElements() throws {
    var follows = ""
    for word in given.first?.words ?? [] where given.first?.form.isCollection == true {
      let isOption = word.wholeMatch(of: /--[a-z].*|-[a-z]/) != nil
      guard !isOption || ValueType.ofDefaults[follows] != nil else {
        throw ValidationError(PreferenceUsageText.optionsFirst)
      }
      follows = word
    }
  }

  /// Fails unless the options and arguments give one value.
  func check(_ arguments: [String]) throws {
    let types = given.count + (json ? 1 : 0) + (plist ? 1 : 0) + (type == nil ? 0 : 1)
    guard types <= 1 else { throw ValidationError(PreferenceUsageText.oneType) }
    guard given.isEmpty || arguments.isEmpty else {
      throw ValidationError(PreferenceUsageText.valueTwice)
    }
    let words = words(arguments)
    let isCollection = form?.isCollection == true
    guard !words.isEmpty || isCollection else {
      throw ValidationError(PreferenceUsageText.valueMissing)
    }
    guard words.count <= 1 || isCollection else {
      throw ValidationError(PreferenceUsageText.oneValue)
    }
    guard !raw || arguments == ["-"] else { throw ValidationError(PreferenceUsageText.rawInput) }
    let rawForms: [WrittenForm?] = [nil, .text(.string), .text(.data)]
    guard !raw || rawForms.contains(form) else {
      throw ValidationError(PreferenceUsageText.rawType)
    }
  }

  private static func form(_ name: String) throws -> WrittenForm {
    guard let form = WrittenForm.named(name) else {
      throw ValidationError(PreferenceUsageText.typeToWrite)
    }
    return form
  }
}

struct ReadFormOptions: ParsableArguments {
  @Flag(help: "Print JSON")
  var json = false

  @Flag(help: "Print an XML property list")
  var plist = false

  @Flag(help: "Print the bytes of text or data, without a newline")
  var raw = false

  func validate() throws {
    guard [json, plist, raw].count(where: { $0 }) <= 1 else {
      throw ValidationError(PreferenceUsageText.oneForm)
    }
  }
}

struct FileFormatOptions: ParsableArguments {
  @Flag(help: "The file is JSON")
  var json = false

  @Flag(help: "The file is a property list")
  var plist = false

  func validate() throws {
    guard !json || !plist else { throw ValidationError(PreferenceUsageText.oneFormat) }
  }

  /// The named format, or `nil`.
  var chosen: FileFormat? { json ? .json : plist ? .propertyList : nil }
}

/// The options that show changes instead of making them.
struct DryRunOptions: ParsableArguments {
  @Flag(help: "Change nothing; print what would change")
  var dryRun = false

  @Flag(name: .customLong("diff-json"), help: "With --dry-run, print that as JSON")
  var diffInJSON = false

  /// The form of the printed differences, or `nil` to make the changes.
  var form: ValueDifference.Form? { dryRun ? diffInJSON ? .json : .rows : nil }

  func validate() throws {
    guard dryRun || !diffInJSON else { throw ValidationError(PreferenceUsageText.diffOfDryRun) }
  }
}
