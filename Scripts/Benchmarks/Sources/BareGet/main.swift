import CSodiumForBare
import Glibc

// What a small program in Swift takes to print a secret from the file that is its argument: one read,
// two opened boxes. It finds nothing, checks nothing and derives no key.

/// Opens a box that was sealed under a key of zeros.
func opened(_ box: ArraySlice<UInt8>) -> [UInt8] {
  let key = [UInt8](repeating: 0, count: 32)
  let (nonce, sealed) = (Array(box.prefix(24)), Array(box.dropFirst(24)))
  var message = [UInt8](repeating: 0, count: sealed.count - 16)
  guard
    crypto_secretbox_open_easy(&message, sealed, UInt64(sealed.count), nonce, key) == 0
  else { exit(1) }
  return message
}

var file = [UInt8](repeating: 0, count: 4096)
let descriptor = open(CommandLine.arguments[1], O_RDONLY)
let count = read(descriptor, &file, file.count) / 2
guard count > 40, sodium_init() >= 0 else { exit(1) }
_ = opened(file[..<count])
let secret = opened(file[count..<(2 * count)])
guard write(STDOUT_FILENO, secret, secret.count) == secret.count else { exit(1) }
