/** The service, `incumbent serve`: the few operations that a run needs, over `fetch`. */

import { IncumbentError } from "./errors.js";
import type { SessionForm } from "./who.js";

/** A message as `session.guard` takes it. */
export type Plain = Record<string, unknown>;

/** What lies on the desk of a session: turns, and notes. */
export interface WorkingItem {
  key: string;
  value: unknown;
  created_at: string;
}

export interface Guarded {
  messages: Plain[];
  account: { index: number; outcome: "cut" | "left out" | "over budget" }[];
}

export interface Turn {
  text: string;
  speaker: string;
  ref?: string;
}

export interface Access {
  url: string;
  key?: string | undefined;
  timeout: number;
  fetch: typeof fetch;
}

const TRIES = 3;
const LONGEST_WAIT = 5;
/** Not done, and can be done later. */
const LATER = [429, 503];

export class Service {
  constructor(private readonly access: Access) {}

  /** Observe a turn. It is not given up half-way: whoever tries again finds it. */
  async observe(session: SessionForm, turn: Turn): Promise<void> {
    await this.ask("observe", { session, ...turn });
  }

  async workingSet(session: SessionForm): Promise<WorkingItem[]> {
    return (await this.ask("working_set", { session })) as WorkingItem[];
  }

  async guard(
    session: SessionForm,
    messages: Plain[],
    budget: number | undefined,
    signal?: AbortSignal,
  ): Promise<Guarded> {
    const asked = budget === undefined ? { session, messages } : { session, messages, budget };
    return (await this.ask("guard", asked, signal)) as Guarded;
  }

  /** What holds, without the conversation: the caller sends that itself. */
  async context(
    session: SessionForm,
    query: string,
    budget: number,
    signal?: AbortSignal,
  ): Promise<string> {
    const found = await this.ask(
      "context",
      { session, query, budget, conversation: false },
      signal,
    );
    return (found as { text: string }).text;
  }

  private async ask(operation: string, body: object, signal?: AbortSignal): Promise<unknown> {
    // The same request twice is done once, so that it can be tried again when its answer got lost.
    const once = crypto.randomUUID();
    for (let tried = 1; ; tried += 1) {
      const answer = await this.sent(operation, body, once, tried, signal);
      if (answer?.ok) return answer.json();
      if (answer !== undefined) {
        const wait = Number(answer.headers.get("retry-after") ?? 1);
        if (!LATER.includes(answer.status) || tried === TRIES || !(wait <= LONGEST_WAIT)) {
          throw await refusal(answer);
        }
        await answer.body?.cancel();
        await new Promise((go) => setTimeout(go, 1000 * wait));
      }
    }
  }

  /** An answer; undefined where the connection broke and it can be tried again. */
  private async sent(
    operation: string,
    body: object,
    once: string,
    tried: number,
    signal?: AbortSignal,
  ): Promise<Response | undefined> {
    const { url, key, timeout } = this.access;
    const patience = AbortSignal.timeout(timeout);
    const headers: Record<string, string> = {
      "content-type": "application/json",
      "idempotency-key": once,
    };
    if (key !== undefined) headers.authorization = `Bearer ${key}`;
    try {
      return await this.access.fetch(`${url.replace(/\/+$/, "")}/v1/${operation}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body, wellFormed),
        redirect: "error", // the key is for this address alone
        signal: signal === undefined ? patience : AbortSignal.any([patience, signal]),
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (!patience.aborted && tried === 1) return undefined;
      const why = patience.aborted ? `no answer in ${timeout} ms` : "no connection";
      throw new IncumbentError(
        "StoreUnavailable",
        `${url}: ${why}; is \`incumbent serve\` running there?`,
        { cause: error },
      );
    }
  }
}

/** Halves of characters are no text to anybody else. */
function wellFormed(_name: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}

async function refusal(answer: Response): Promise<IncumbentError> {
  const text = await answer.text();
  let told: { title?: string; detail?: string; request_id?: string } = {};
  try {
    told = JSON.parse(text) as typeof told;
  } catch {
    // Something in between answered, and not the service.
  }
  const requestId = told.request_id === undefined ? {} : { requestId: told.request_id };
  const detail =
    told.detail ?? `status ${answer.status} and no explanation; is this address incumbent's?`;
  return new IncumbentError(told.title ?? "StoreUnavailable", detail, {
    status: answer.status,
    ...requestId,
  });
}
