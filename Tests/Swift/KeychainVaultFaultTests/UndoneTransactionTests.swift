import GRDB
import KeychainCredentials
import Testing

@testable import KeychainVault

@Suite("Transactions that SQLite has undone")
struct UndoneTransactionTests {
  /// A closure may have caught the failure, such as a full disk, after which SQLite undid all.
  @Test func aStatementAfterwardsReportsNoDamage() {
    let error = SQLiteErrors.translate(DatabaseError(resultCode: .SQLITE_ABORT), path: "/vault.db")
    #expect(error.code == .inputOutput)
    #expect(error.message.contains("the vault is unchanged: /vault.db"))
  }
}
