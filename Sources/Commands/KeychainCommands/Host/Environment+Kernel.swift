internal import Glibc
internal import PrephirencesCommandLine

extension Environment {
  /// Whether the kernel lists its keys, with the remaining time of each.
  static var listsKernelKeys: Bool { unsafe access("/proc/keys", R_OK) == 0 }
}
