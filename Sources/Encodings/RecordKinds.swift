/// The ids that more than one room speaks of.
public enum MerchantKind: RecordKind { public static let prefix = "mer" }
public enum RegistrationKind: RecordKind { public static let prefix = "mid" }
public enum CertificateKind: RecordKind { public static let prefix = "cert" }
public enum CredentialKind: RecordKind { public static let prefix = "cred" }
public enum DecryptionKind: RecordKind { public static let prefix = "dec" }

/// A customer of the PSP, a tenant: `mer_…`.
public typealias MerchantID = RecordID<MerchantKind>
/// One (merchant, environment, Apple merchant identifier): `mid_…`.
public typealias RegistrationID = RecordID<RegistrationKind>
/// One key pair with its request and certificate: `cert_…`.
public typealias CertificateID = RecordID<CertificateKind>
/// One API credential: `cred_…`.
public typealias CredentialID = RecordID<CredentialKind>
/// One call that opened, or tried to open, a payment token: `dec_…`.
public typealias DecryptionID = RecordID<DecryptionKind>
