//! The supported providers and their differences.

/// A provider of models.
#[derive(Debug)]
pub(super) struct Provider {
    /// The name before the colon, such as `openai` in `openai:gpt-5-mini`.
    pub(super) name: &'static str,
    /// The provider's name in OpenTelemetry.
    pub(super) telemetry: &'static str,
    /// The form of its requests and answers.
    pub(super) protocol: Protocol,
    /// The base address.
    pub(super) endpoint: &'static str,
    /// The environment variable that its documentation names for the key, if it needs one.
    pub(super) variable: Option<&'static str>,
}

/// The form of requests and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    /// OpenAI's Chat Completions, which many others support.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
    /// Gemini's `generateContent`.
    Gemini,
}

/// The supported providers. Ollama is asked through its Chat Completions.
static PROVIDERS: [Provider; 9] = [
    chat(
        "openai",
        "openai",
        "https://api.openai.com/v1/",
        Some("OPENAI_API_KEY"),
    ),
    Provider {
        protocol: Protocol::Responses,
        ..chat(
            "openai-responses",
            "openai",
            "https://api.openai.com/v1/",
            Some("OPENAI_API_KEY"),
        )
    },
    Provider {
        name: "anthropic",
        telemetry: "anthropic",
        protocol: Protocol::Messages,
        endpoint: "https://api.anthropic.com/v1/",
        variable: Some("ANTHROPIC_API_KEY"),
    },
    Provider {
        name: "gemini",
        telemetry: "gcp.gemini",
        protocol: Protocol::Gemini,
        endpoint: "https://generativelanguage.googleapis.com/v1beta/",
        variable: Some("GEMINI_API_KEY"),
    },
    chat("ollama", "ollama", "http://localhost:11434/v1/", None),
    chat(
        "mistral",
        "mistral_ai",
        "https://api.mistral.ai/v1/",
        Some("MISTRAL_API_KEY"),
    ),
    chat(
        "deepseek",
        "deepseek",
        "https://api.deepseek.com/v1/",
        Some("DEEPSEEK_API_KEY"),
    ),
    chat(
        "groq",
        "groq",
        "https://api.groq.com/openai/v1/",
        Some("GROQ_API_KEY"),
    ),
    chat("xai", "x_ai", "https://api.x.ai/v1/", Some("XAI_API_KEY")),
];

const fn chat(
    name: &'static str,
    telemetry: &'static str,
    endpoint: &'static str,
    variable: Option<&'static str>,
) -> Provider {
    Provider {
        name,
        telemetry,
        protocol: Protocol::Chat,
        endpoint,
        variable,
    }
}

impl Protocol {
    /// The name of an answer in errors.
    pub(super) fn answer(self) -> &'static str {
        match self {
            Protocol::Chat => "a chat completion",
            Protocol::Responses => "a response of OpenAI",
            Protocol::Messages => "a message of Anthropic",
            Protocol::Gemini => "an answer of Gemini",
        }
    }

    /// The path of a request, relative to the address of the provider.
    pub(super) fn path(self, model: &str, is_streamed: bool) -> String {
        match self {
            Protocol::Chat => "chat/completions".to_owned(),
            Protocol::Responses => "responses".to_owned(),
            Protocol::Messages => "messages".to_owned(),
            Protocol::Gemini if is_streamed => {
                format!("models/{model}:streamGenerateContent?alt=sse")
            }
            Protocol::Gemini => format!("models/{model}:generateContent"),
        }
    }
}

impl Provider {
    pub(super) fn find(name: &str) -> Option<&'static Provider> {
        PROVIDERS.iter().find(|it| it.name == name)
    }

    /// The names of all providers, separated by commas.
    pub(super) fn known() -> String {
        PROVIDERS.each_ref().map(|it| it.name).join(", ")
    }

    /// Returns `true` if the provider wants to get back the text of the thoughts before a tool
    /// call. Others want signatures, or nothing.
    pub(super) fn wants_thoughts(&self) -> bool {
        self.protocol == Protocol::Messages || self.name == "deepseek"
    }

    /// Returns `true` if its models accept a schema for the answer. DeepSeek and many models of
    /// Groq refuse requests with one.
    pub(super) fn takes_schemas(&self) -> bool {
        !matches!(self.name, "deepseek" | "groq")
    }
}
