import EtcdTesting
import Foundation
import Testing

@testable import PrephirencesEtcd

@Suite struct CertificateTests {
  @Test func datesAreThoseOfOpenSSL() throws {
    let folder = NSTemporaryDirectory() + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let certificates = try EtcdCertificates(in: folder)
    let openssl = Process()
    openssl.executableURL = URL(filePath: "/usr/bin/env")
    openssl.arguments = [
      "openssl", "x509", "-in", certificates.certificate, "-noout", "-dates", "-dateopt",
      "iso_8601",
    ]
    let output = Pipe()
    openssl.standardOutput = output
    try openssl.run()
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    openssl.waitUntilExit()
    let bytes = Array(try Data(contentsOf: URL(filePath: certificates.certificate)))
    let dates = try #require(CertificateDates.all(inPEM: bytes).first)
    for (name, time) in [("notBefore", dates.begin), ("notAfter", dates.end)] {
      #expect(said.contains("\(name)=\(CertificateDates.text(of: time).dropLast(4)):"))
    }
    #expect(dates.begin <= CertificateDates.now && CertificateDates.now < dates.end)
    // A bundle.
    #expect(CertificateDates.all(inPEM: bytes + bytes).count == 2)
  }

  @Test func theClockIsThatOfFoundation() {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "UTC")
    formatter.dateFormat = "yyyyMMddHHmmss"
    for seconds in [0, 68_169_599, 951_782_400, 951_868_799, 1_709_210_096, 4_107_542_399] {
      let text = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
      #expect("\(CertificateDates.time(seconds))" == text)
    }
    #expect(CertificateDates.text(of: 20_261_125_040_506) == "2026-11-25 04:05 UTC")
  }

  @Test func damagedCertificatesHaveNoDates() throws {
    let folder = NSTemporaryDirectory() + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = try EtcdCertificates(in: folder).certificate
    let text = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    let body = text.dropFirst().dropLast().joined()
    let certificate = Array(try #require(Data(base64Encoded: body)))
    #expect(CertificateDates(certificate) != nil)
    for count in 0..<certificate.count {
      #expect(CertificateDates(Array(certificate.prefix(count))) == nil)
    }
    for index in certificate.indices {
      var damaged = certificate
      // Lengths beyond the end, and of more bytes than there are.
      for byte: UInt8 in [0xFF, 0x84, 0x00] {
        damaged[index] = byte
        _ = CertificateDates(damaged)
      }
    }
    #expect(CertificateDates.all(inPEM: Array("-----BEGIN CERTIFICATE-----\nAAAA".utf8)).isEmpty)
  }
}
