internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

/// A search through all items.
struct VaultSearch {
  let contents: VaultContents
  let sealing: ItemSealing

  /// Finds what matches a query, and counts what can't be looked at.
  ///
  /// What is locked counts unless its service or server is another one than the query names.
  func run(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    var result = CredentialSearchResult(credentials: [])
    let service = try query.service.map { text throws(KeychainError) in try sealing.service(text) }
    try contents.forEachItem(sealing.keys) { visited throws(KeychainError) in
      switch visited {
      case .shadowed: break
      case .damagedPage(let page): result.damaged.append("\(page.name)")
      case .item(let item):
        if let service, item.entry.service != service { return }
        guard sealing.keys.satisfies(item.requirement) else {
          result.lockedCount += 1
          return
        }
        guard !sealing.isOfOtherDevice(item.entry) else {
          result.otherDeviceCount += 1
          return
        }
        do throws(KeychainError) {
          let credential = try sealing.credential(of: item, name: item.name)
          if query.matches(credential) { result.credentials.append(credential) }
        } catch {
          guard error.code == .damaged else { throw error }
          result.damaged.append(item.name)
        }
      }
    }
    return result
  }
}

extension CredentialQuery {
  /// The service or server that it names.
  fileprivate var service: String? {
    pairs.first { $0.name == SearchablePair.service || $0.name == SearchablePair.server }?.value
  }
}

extension VaultIndex.Page {
  /// What an error or a report calls a page whose items can't be told apart.
  var name: String { "\(count) items from \(first.name) on" }
}
