// The first visit: a line for the agenda, and forms that try a model.
import "./agenda.js";
import "./busy.js";
