// Why a program cannot start, in words for the operator: the one kind of error whose text may be shown.

export class StartError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StartError';
  }
}
