// A value for sources of bundles in a first suite.

/** The certificate of an example authority. Its private key was never kept. */
export const exampleCertificate = [
  '-----BEGIN CERTIFICATE-----',
  'MIIBejCCASGgAwIBAgIUTfCTaT5p6MYp+NpB9IBSCqtYamAwCgYIKoZIzj0EAwIw',
  'EjEQMA4GA1UEAwwHZXhhbXBsZTAgFw0yNjExMjgxMzM2NDRaGA8yMTI2MTEwNDEz',
  'MzY0NFowEjEQMA4GA1UEAwwHZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEH',
  'A0IABDwnInLo6FhPzZ3y8JlsMnCF/FOnlxrkImYMaszlvTxdbJfLQWDgB8e8Idm7',
  'VuvfIXB7XLwIWUu3Qjx3uZoA7cujUzBRMB0GA1UdDgQWBBS5PuuK+6GhSSyHBczh',
  'rpyAyJPTcDAfBgNVHSMEGDAWgBS5PuuK+6GhSSyHBczhrpyAyJPTcDAPBgNVHRMB',
  'Af8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIBEqczqc3UOub1zN6aYdhfSJoUEi',
  'yFT5S+G7WHcIiBb6AiBdWNJ0vpduAi4zm5bY/HXkPLiN9gTUt4c6Tpm3TV4wjA==',
  '-----END CERTIFICATE-----',
].join('\n');
