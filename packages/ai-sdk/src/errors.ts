/** What goes wrong between a run and the memory. */

/** The memory refused, or could not be reached. The run fails with it: without the memory the
 * transcript would be sent with what no longer holds. */
export class IncumbentError extends Error {
  /** The error's name as in Python, such as `InvalidInput`. */
  readonly title: string;
  /** The status of the service's answer; undefined where there was none. */
  readonly status: number | undefined;
  /** What the log of the service calls the request. */
  readonly requestId: string | undefined;

  constructor(
    title: string,
    detail: string,
    told: { status?: number; requestId?: string; cause?: unknown } = {},
  ) {
    super(`${title}: ${detail}`, told.cause === undefined ? {} : { cause: told.cause });
    this.name = "IncumbentError";
    this.title = title;
    this.status = told.status;
    this.requestId = told.requestId;
  }
}
