import ArgumentParser
import Testing

@testable import PrephirencesCommandLine

@Suite("The commands that a line names")
struct CommandPathTests {
  private struct Root: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "root", subcommands: [Group.self, Leaf.self])
  }

  private struct Group: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "group", subcommands: [Inner.self], aliases: ["g"])
  }

  private struct Inner: ParsableCommand {
    @Flag var loud = false
    @Option var name: String?
    @Argument var word: String?
  }

  private struct Leaf: ParsableCommand {}

  private static func path(_ line: String) -> CommandPath {
    CommandPath(Root.self, line.split(separator: " ").map(String.init))
  }

  @Test(arguments: [
    ("", "root", ""), ("leaf", "leaf", "leaf"), ("group", "group", "group"),
    ("g inner x", "inner", "g inner"), ("group inner --loud inner", "inner", "group inner"),
    ("--version group", "root", ""), ("leaf group", "leaf", "leaf"), ("-- group", "root", ""),
  ])
  func wordsResolveWhileTheyNameCommands(line: String, command: String, words: String) {
    let path = Self.path(line)
    #expect(path.command._commandName == command)
    #expect(path.words.joined(separator: " ") == words)
  }

  @Test(arguments: [
    ("grup", "grup", "group"), ("group iner", "iner", "inner"), ("helpp", "helpp", "help"),
    ("group zzzzzz", "zzzzzz", nil), ("group --loud", nil, nil), ("group inner x", nil, nil),
  ])
  func unknownCommandWordIsNoticed(line: String, word: String?, meant: String?) {
    let path = Self.path(line)
    #expect(path.unknownWord == word)
    #expect(word.flatMap(path.nameResembling) == meant)
  }

  @Test(arguments: [
    ("group help inner", "group inner --help"), ("group help", "group --help"),
    ("help group", "help group"), ("leaf help", "leaf help"),
    ("group inner help", "group inner help"),
  ])
  func subcommandHelpWorksAsAtTheRoot(line: String, meaning: String) {
    #expect(Self.path(line).argumentsAskingForHelp.joined(separator: " ") == meaning)
  }

  @Test(arguments: [
    ("group inner -x", true), ("group inner --louder", true), ("group inner --loud", false),
    ("group inner --name=-x", false), ("group inner -- -x", false), ("group inner x", false),
  ])
  func whatOnlyLooksLikeAnOptionIsNoticed(line: String, isUnknown: Bool) {
    #expect(Self.path(line).hasUnknownDash == isUnknown)
  }

  @Test(arguments: [
    ("inner", "root group inner"), ("iner", "root group inner"), ("grup", "group"), ("zzzzzz", nil),
  ])
  func aCommandFurtherBelowIsSuggested(word: String, meant: String?) {
    #expect(Self.path(word).commandsMeant(by: word) == (meant.map { [$0] } ?? []))
  }

  @Test(arguments: [
    ("group inner --names x", "--names", "--name"),
    ("group inner --loud=x --ame", "--ame", "--name"),
    ("group inner --name x", nil, nil), ("group inner -- --names", nil, nil),
    ("group inner --zzzzzz=x", "--zzzzzz", nil), ("group inner --hunter2", nil, nil),
  ])
  func anUnknownOptionIsNamed(line: String, option: String?, meant: String?) {
    let path = Self.path(line)
    #expect(path.unknownOption == option)
    #expect(option.flatMap(path.optionResembling) == meant)
  }

  @Test(arguments: [
    ("help zzz", "zzz"), ("help group zzz", "zzz"), ("group help zzz", "zzz"), ("help group", nil),
    ("help", nil), ("group inner help", nil), ("help leaf zzz", nil),
  ])
  func helpAboutNothingIsNoticed(line: String, word: String?) {
    #expect(Self.path(line).topic?.unknownWord == word)
  }
}
