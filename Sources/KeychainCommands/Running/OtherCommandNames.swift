/// What other programs and shells call the commands of this one.
enum OtherCommandNames {
  private static let meanings: [(words: Set<String>, names: [String])] = [
    (
      ["add", "new", "put", "save", "store", "create", "insert", "write", "rotate", "generate"],
      ["set", "add", "create"]
    ),
    (["remove", "del", "erase", "delete", "rm", "forget", "unset"], ["delete", "remove"]),
    (["read", "cat", "fetch", "show-secret", "print", "reveal"], ["get"]),
    (["find", "search", "grep", "dump"], ["list"]),
    (["edit", "change"], ["update"]),
    (["move"], ["rename"]),
  ]

  /// The names that a word can mean here, the likeliest first.
  static func meanings(of word: String) -> [String] {
    meanings.filter { $0.words.contains(word) }.flatMap(\.names).filter { $0 != word }
  }
}
