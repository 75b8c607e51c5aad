package import ArgumentParser

extension CompletionKind {
  /// Names that the program offers for the word at the cursor.
  ///
  /// Names that cannot be inserted unchanged are left out, and each is quoted as the shell needs it.
  ///
  /// - Parameter find: Returns the names; it must neither ask nor report anything, and soon return.
  /// - Returns: The completion.
  package static func names(
    _ find: @escaping @Sendable (CompletionLine) -> [String]
  ) -> Self {
    .custom { words, index, _ in
      let line = CompletionLine(words: words, index: index)
      return find(line).filter(line.accepts).map(\.forCompletion)
    }
  }
}
