/** Tenure for the Vercel AI SDK.
 *
 *     const model = wrapLanguageModel({ model: anyModel, middleware: tenureMiddleware() });
 *     await generateText({ model, messages, providerOptions: { tenure: { userId: "alice", sessionId: "7" } } });
 *
 * The application's own messages are never changed: only what is sent is. */

export { TenureError } from "./errors.js";
export { tenureMiddleware, type TenureOptions } from "./middleware.js";
export type { Identification, TenureCallOptions } from "./who.js";
