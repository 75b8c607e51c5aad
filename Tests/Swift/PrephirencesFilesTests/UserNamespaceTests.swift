import Testing

@testable import PrephirencesFiles

@Suite("User namespaces")
struct UserNamespaceTests {
  @Test(arguments: [
    ("         0          0 4294967295\n", true), ("      1000       1000          1\n", false),
    ("         0       1000          1\n         1     100000      65536\n", true),
    ("         0       1000          1\n         1     100000      65533\n", false),
    ("     65534      65534          1\n", true), ("", false), ("nonsense", false),
  ])
  func mapTellsWhichNumbersAreMapped(_ map: String, _ isMapped: Bool) {
    #expect(UserNamespace.maps(map, 65534) == isMapped)
  }

  /// Only the name distinguishes it from a folder of another user.
  @Test func onlyFoldersOfTheSystemAreRoots() {
    for path in ["/", "/home", "/var/lib", "/tmp"] { #expect(SystemFolders.contains(path)) }
    for path in ["/home/alice", "/srv/team", "/data", "/var/lib/mytool", ""] {
      #expect(!SystemFolders.contains(path))
    }
  }
}
