// What issuing certificates gives: an authority and a serving certificate signed by it, each with its key, in PEM.
export interface PemPair {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface IssuedCertificates {
  readonly ca: PemPair;
  readonly serving: PemPair;
}
