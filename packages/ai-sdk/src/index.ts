/** Incumbent for the Vercel AI SDK.
 *
 *     const model = wrapLanguageModel({ model: anyModel, middleware: incumbentMiddleware() });
 *     await generateText({ model, messages, providerOptions: { incumbent: { userId: "alice", sessionId: "7" } } });
 *
 * The application's own messages are never changed: only what is sent is. */

export { IncumbentError } from "./errors.js";
export { incumbentMiddleware, type IncumbentOptions } from "./middleware.js";
export type { Identification, IncumbentCallOptions, MemoryMode } from "./who.js";
