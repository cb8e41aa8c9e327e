/** Who a run is for: what the call says of it, and what the middleware was made with. */

import { IncumbentError } from "./errors.js";

/** Who is speaking, under the names of `memory.session` in Python. */
export interface Identification {
  userId?: string;
  userName?: string;
  authority?: string;
  /** Fixed by the key where the service asks for one. */
  organization?: string;
  department?: string;
  permissions?: string[];
  sessionId?: string;
  taskId?: string;
  /** Whether what is said waits until the person approves it; as the service says, unless given. */
  askBeforeKeeping?: boolean;
}

/** What the middleware does: it observes what is said and adds the context, or only the one or the
 * other. */
export type MemoryMode = "both" | "observe" | "add";

/** What a call may say in `providerOptions.incumbent`. */
export interface IncumbentCallOptions extends Identification {
  /** False where the "user" of the call is another agent, or the application. */
  observe?: boolean;
  memoryMode?: MemoryMode;
}

/** A session as the service takes it. */
export type SessionForm = Record<string, unknown>;

const NAMES: Record<keyof Identification, string> = {
  userId: "user_id",
  userName: "user_name",
  authority: "authority",
  organization: "organization",
  department: "department",
  permissions: "permissions",
  sessionId: "session_id",
  taskId: "task_id",
  askBeforeKeeping: "ask_before_keeping",
};
const PERSONAL = ["userName", "authority", "department", "permissions"];
const NEEDED = ["userId", "sessionId"] as const;

/** Refuse names that there are not: a misspelt one would be nobody's. */
export function checkNames(given: object, others: readonly string[], where: string): void {
  const known = [...Object.keys(NAMES), ...others];
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new IncumbentError(
      "InvalidInput",
      `there is no option "${unknown}" in ${where}; there are ${known.join(", ")}`,
    );
  }
}

/** The session of a run. The call's own word counts more, and an empty name is not filled in. */
export function sessionOf(made: Identification, called: Identification): SessionForm {
  const own = named(made);
  const run = named(called);
  if (own.userId !== undefined && run.userId !== undefined && own.userId !== run.userId) {
    // What was said of one person is not true of another.
    for (const name of PERSONAL) delete own[name as keyof Identification];
  }
  const who: Identification = { ...own, ...run };
  for (const name of NEEDED) {
    if (!who[name]) {
      throw new IncumbentError(
        "InvalidInput",
        `nothing says the ${name} of this run; name it in the call's providerOptions.incumbent, ` +
          `or give ${name} to incumbentMiddleware`,
      );
    }
  }
  const pairs = Object.entries(who).map(([name, value]) => [
    NAMES[name as keyof Identification],
    value,
  ]);
  return Object.fromEntries(pairs) as SessionForm;
}

function named(given: Identification): Identification {
  const pairs = Object.entries(given).filter(
    ([name, value]) => name in NAMES && value !== undefined && value !== null,
  );
  return Object.fromEntries(pairs) as Identification;
}
