/** Sets up the SDK as an operator does: with `--import`, before the program; its settings are variables. */
import { NodeSDK } from "@opentelemetry/sdk-node";

new NodeSDK().start();
