internal import Glibc

/// What the kernel tells of its keys.
enum KernelKeys {
  /// Whether it lists them, with the time that each has left.
  static var areListed: Bool { unsafe access("/proc/keys", R_OK) == 0 }
}
