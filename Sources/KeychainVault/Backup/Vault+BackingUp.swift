public import KeychainCredentials
public import KeychainVaultFormat

extension Vault {
  /// Copies the vault into a file, as it is at one moment.
  ///
  /// The copy is read again and verified, as far as the keys at hand open it, before it gets its
  /// name. Meanwhile others can read and change the vault.
  ///
  /// With `replacing`, the new backup replaces an older one at `path` in one step: a reader finds
  /// either the older one or all of the new one, even after a power loss. The copy is made in a
  /// file with the added extension `.new`. Two such calls for one file wait for each other. Only a
  /// backup with the same keys is replaced, so not one from before the vault got new keys. A copy
  /// that was changed on its own is not replaced, nor one that is so old that the vault can't tell.
  ///
  /// - Parameters:
  ///   - path: The path of the copy, which gets mode 0600.
  ///   - replacing: Whether to replace an older backup of the same vault. If `false`, or if there
  ///     is none, the file must not exist.
  ///   - progress: Called from time to time with the progress of the verification.
  /// - Returns: What the copy contains and what opens it.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists`` if the file exists,
  ///   ``KeychainError/Code/damaged`` if the vault is not intact, or
  ///   ``KeychainError/Code/inputOutput``. A partial copy is removed.
  ///   ``KeychainError/Code/refused`` if `path` is the vault itself, or, with `replacing`, a backup
  ///   of another vault or with changes of its own, a link, or not a regular file;
  ///   ``KeychainError/Code/foreign`` or ``KeychainError/Code/damaged`` if the file there is not an
  ///   intact vault; ``KeychainError/Code/busy`` if another backup to this file takes longer than
  ///   the deadline.
  @discardableResult
  public func backup(
    to path: String, replacing: Bool = false, progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> BackupReport {
    let session = try existingSession()
    let place = try BackupPlace(path, of: session, replacing: replacing)
    return try place.fill { file, older throws(KeychainError) in
      try session.read(.nothing) { contents, sealing throws(KeychainError) in
        if let older { try place.requireOlder(older, than: contents, sealing.keys) }
        let copy = try contents.copy(to: file, path: place.path, sealing.keys)
        let verified = try VaultVerification(contents: copy, sealing: sealing, progress: progress)
          .run()
        try verified.requireIntact()
        return .done(try backupReport(of: copy, sealing, itemCount: verified.itemCount))
      }
    }
  }

  private func backupReport(
    of copy: VaultContents, _ sealing: ItemSealing, itemCount: Int
  ) throws(KeychainError) -> BackupReport {
    let slots = try describe(copy.head, copy.list)
    let counts = try copy.itemCounts(sealing.keys).known
    return BackupReport(
      itemCount: itemCount,
      deviceItemCount: counts.filter { $0.key.isThisDeviceOnly }.values.reduce(0, +), slots: slots,
      needsThisDevice: !slots.contains { $0.grant.opensEverything && $0.kind != .device })
  }
}

/// What a backup contains.
public struct BackupReport: Hashable, Sendable {
  /// The number of items.
  public var itemCount: Int

  /// The number of items that open only with the device secret of this machine or another one.
  public var deviceItemCount: Int

  /// The slots that open it.
  public var slots: [VaultSlot]

  /// Whether only this machine's device secret opens it.
  public var needsThisDevice: Bool
}
