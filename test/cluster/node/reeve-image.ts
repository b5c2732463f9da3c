// Finds the image of Reeve as an OCI archive.

/** The variable names an archive that holds docker.io/library/reeve:<version>. */
const variable = 'REEVE_IMAGE_ARCHIVE';

// oxlint-disable-next-line typescript/require-await
export async function reeveArchive(_say: (text: string) => void): Promise<string> {
  const archive = process.env[variable] ?? '';
  if (archive === '') throw new Error(`${variable} names no archive of the image`);
  return archive;
}
