/// A store of secrets whose command reads or writes one secret in a process of its own.
///
/// No secret is an argument or in the environment: it is in a file that is standard input.
struct Contestant {
  let label: String
  var isOurs = false
  var target: Double?
  var note: String?
  let read: ChildProcess
  let write: ChildProcess

  /// Whether each command hashes a passphrase, which takes longer than all the rest.
  var hashes = false
}
