import Testing

@testable import PrephirencesSystem

@Suite("User namespaces")
struct UserNamespaceTests {
  @Test(arguments: [
    ("         0          0 4294967295\n", false), ("      1000       1000          1\n", true),
    // Rootless podman, whose own number 65534 is another user than root of the machine.
    ("         0       1000          1\n         1     100000      65536\n", true),
    ("         0       1000          1\n         1     100000      65533\n", true),
    ("         0     100000      65536\n", true),
    // A namespace in which root of the machine has a number.
    ("         0          0      65536\n", false), ("     65534          0          1\n", false),
    ("     65534      65534          1\n", true), ("", true), ("nonsense", true),
  ])
  func mapTellsWhetherOwnersAreHidden(_ map: String, _ isHidden: Bool) {
    #expect(UserNamespace.hides(map, 65534, from: 1000) == isHidden)
  }

  @Test func ownNumberIsNotHidden() {
    #expect(!UserNamespace.hides("0 100000 65536\n", 65534, from: 65534))
  }

  /// Only the name distinguishes it from a folder of another user.
  @Test func onlyFoldersOfTheSystemAreRoots() {
    for path in ["/", "/home", "/var/lib", "/tmp"] { #expect(SystemFolders.contains(path)) }
    for path in ["/home/alice", "/srv/team", "/data", "/var/lib/mytool", ""] {
      #expect(!SystemFolders.contains(path))
    }
  }
}
