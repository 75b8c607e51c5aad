package import ArgumentParser
internal import Foundation
package import PrephirencesCommandLine

/// What the argument parser says of the arguments of a command.
package enum ParserDefinitions {
  private struct Tool: Decodable {
    let command: Command
  }

  private struct Command: Decodable {
    let arguments: [Argument]
  }

  private struct Argument: Decodable {
    struct Name: Decodable {
      let kind: String
      let name: String
    }

    let kind: String
    let names: [Name]?
    let valueName: String
    let isOptional: Bool
    let isRepeating: Bool
    let parsingStrategy: String

    func definitions() -> [QuickDefinition] {
      guard let names else {
        let kind: QuickDefinition.Kind =
          parsingStrategy == "allRemainingInput"
          ? .passedOn : isRepeating ? .arguments : isOptional ? .optionalArgument : .argument
        return [QuickDefinition(kind: kind, name: valueName, letter: nil)]
      }
      // The spellings of other programs; they may take the rest of the line.
      let others = names.filter { $0.kind == "longWithSingleDash" }
      guard others.isEmpty else {
        return others.map { QuickDefinition(kind: .parserOnly, name: $0.name, letter: nil) }
      }
      let kind: QuickDefinition.Kind = kind == "flag" ? .flag : isRepeating ? .options : .option
      let letter = names.first { $0.kind == "short" }?.name
      return names.filter { $0.kind == "long" }
        .map { QuickDefinition(kind: kind, name: $0.name, letter: letter) }
    }

    /// Whether the quick path knows how the parser finds the values.
    var isUsual: Bool {
      names == nil && ["default", "allRemainingInput"].contains(parsingStrategy) || kind == "flag"
        || ["default", "unconditional"].contains(parsingStrategy)
        || parsingStrategy == "allRemainingInput"
          && names?.contains { $0.kind == "longWithSingleDash" } == true
    }
  }

  /// Returns the definitions of a command, in the order of the parser, without help and version.
  ///
  /// - Parameter command: The command.
  /// - Returns: The definitions.
  /// - Throws: An error if the parser describes it in another form than before.
  package static func of(_ command: any ParsableCommand.Type) throws -> [QuickDefinition] {
    let tool = try JSONDecoder().decode(Tool.self, from: Data(command._dumpHelp().utf8))
    let all = tool.command.arguments
    guard all.allSatisfy(\.isUsual) else { throw CocoaError(.coderInvalidValue) }
    return all.flatMap { $0.definitions() }
      .filter { !(["help", "version"].contains($0.name) && $0.kind == .flag) }
  }
}
