/* simdjson finds out in one pass where the strings, numbers and brackets of a line are, and whether
 * it is UTF-8. What it hands out is looked at only when it is asked for, so each line is walked
 * from its first member to its last: a number that is none in a member that nobody wants makes the
 * line no JSON, too. Numbers are never converted, so that one of a hundred digits is as good.
 *
 * Cost: the pass is some gigabytes a second; strings are copied without their escapes. Left out:
 * names of members with dots in them. */
#include "tools/documents/json_text.h"

#include <cerrno>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

using namespace simdjson;

static_assert(JSON_TEXT_PADDING >= SIMDJSON_PADDING, "simdjson reads so far");

namespace
{

enum { TEXT, ID, N_FIELDS };

using field_path = std::vector<std::string>;

field_path split(const char *field)
{
    field_path path;
    if (!field)
        return path;
    std::string_view rest = field;
    for (std::size_t dot; (dot = rest.find('.')) != rest.npos; rest.remove_prefix(dot + 1))
        path.emplace_back(rest.substr(0, dot));
    path.emplace_back(rest);
    return path;
}

bool take_digits(std::string_view &token)
{
    std::size_t n = 0;
    while (n < token.size() && token[n] >= '0' && token[n] <= '9')
        n++;
    token.remove_prefix(n);
    return n > 0;
}

bool take(std::string_view &token, std::string_view any_of)
{
    bool there = !token.empty() && any_of.find(token[0]) != any_of.npos;
    if (there)
        token.remove_prefix(1);
    return there;
}

/* As RFC 8259 has it. */
bool is_number(std::string_view token)
{
    take(token, "-");
    if (!take(token, "0") && !take_digits(token))
        return false;
    if (take(token, ".") && !take_digits(token))
        return false;
    if (take(token, "eE")) {
        take(token, "+-");
        if (!take_digits(token))
            return false;
    }
    return token.empty();
}

std::string_view trimmed(std::string_view token)
{
    const std::size_t n = token.find_last_not_of(" \t\r\n");
    return token.substr(0, n == token.npos ? 0 : n + 1);
}

} // namespace

struct json_text_reader {
    ondemand::parser parser;
    field_path fields[N_FIELDS];

    json_text *found;
    json_text_fault fault; /* of the text */

    error_code walk(ondemand::value value, unsigned depth, unsigned on_way, unsigned is);
    error_code walk_object(ondemand::object object, unsigned depth, unsigned on_way);
    error_code walk_array(ondemand::array array, unsigned depth);
    error_code walk_scalar(ondemand::value value, ondemand::json_type type, unsigned is);
    error_code read(const uint8_t *line, std::size_t n_bytes);
};

/* on_way: fields whose path has led here so far; is: those that this value is. */
error_code json_text_reader::walk(ondemand::value value, unsigned depth, unsigned on_way,
                                  unsigned is)
{
    ondemand::json_type type;
    SIMDJSON_TRY(value.type().get(type));
    if (depth > JSON_TEXT_MOST_DEEP)
        return DEPTH_ERROR;
    if (is & 1u << TEXT) {
        found->text = nullptr;
        fault = JSON_TEXT_NO_STRING;
    }
    if (is & 1u << ID)
        found->id_bytes = 0;
    if (type == ondemand::json_type::object) {
        ondemand::object object;
        SIMDJSON_TRY(value.get_object().get(object));
        return walk_object(object, depth, on_way);
    }
    if (type == ondemand::json_type::array) {
        ondemand::array array;
        SIMDJSON_TRY(value.get_array().get(array));
        return walk_array(array, depth);
    }
    return walk_scalar(value, type, is);
}

error_code json_text_reader::walk_object(ondemand::object object, unsigned depth, unsigned on_way)
{
    for (auto result : object) {
        ondemand::field field;
        std::string_view key;
        SIMDJSON_TRY(std::move(result).get(field));
        SIMDJSON_TRY(field.unescaped_key().get(key));
        unsigned on = 0, is = 0;
        for (unsigned i = 0; i < N_FIELDS; i++) {
            if (!(on_way & 1u << i) || fields[i].size() <= depth || fields[i][depth] != key)
                continue;
            (fields[i].size() == depth + 1 ? is : on) |= 1u << i;
        }
        SIMDJSON_TRY(walk(field.value(), depth + 1, on, is));
    }
    return SUCCESS;
}

error_code json_text_reader::walk_array(ondemand::array array, unsigned depth)
{
    for (auto result : array) {
        ondemand::value value;
        SIMDJSON_TRY(std::move(result).get(value));
        SIMDJSON_TRY(walk(value, depth + 1, 0, 0));
    }
    return SUCCESS;
}

error_code json_text_reader::walk_scalar(ondemand::value value, ondemand::json_type type,
                                         unsigned is)
{
    const std::string_view token = trimmed(value.raw_json_token());
    if (type == ondemand::json_type::string) {
        std::string_view text;
        SIMDJSON_TRY(value.get_string().get(text));
        if (is & 1u << TEXT) {
            found->text = text.data();
            found->text_bytes = text.size();
            fault = JSON_TEXT_GOOD;
        }
    } else if (token != "true" && token != "false" && token != "null" && !is_number(token)) {
        return TAPE_ERROR;
    }
    if (is & 1u << ID && token != "null") {
        found->id = token.data();
        found->id_bytes = token.size();
    }
    return SUCCESS;
}

error_code json_text_reader::read(const uint8_t *line, std::size_t n_bytes)
{
    ondemand::document document;
    ondemand::object object;
    SIMDJSON_TRY(parser.iterate(line, n_bytes, n_bytes + JSON_TEXT_PADDING).get(document));
    SIMDJSON_TRY(document.get_object().get(object));
    SIMDJSON_TRY(walk_object(object, 0, (1u << N_FIELDS) - 1));
    return document.current_location().error() == OUT_OF_BOUNDS ? SUCCESS : TAPE_ERROR;
}

const char *json_text_fault_name(enum json_text_fault fault)
{
    static const char *const names[] = {
        "",
        "no JSON object",
        "bytes that are not UTF-8",
        "an escape in a string that is no character",
        "no such field",
        "the field is no string",
        "longer than 64 MiB",
    };
    static_assert(sizeof(names) / sizeof(names[0]) == JSON_TEXT_N_FAULTS, "each has a name");
    return names[fault];
}

struct json_text_reader *json_text_reader_new(const char *text_field, const char *id_field)
try {
    auto *reader = new json_text_reader;
    reader->fields[TEXT] = split(text_field);
    reader->fields[ID] = split(id_field);
    return reader;
} catch (const std::bad_alloc &) {
    return nullptr;
}

void json_text_reader_free(struct json_text_reader *reader)
{
    delete reader;
}

int json_text_read(struct json_text_reader *reader, const uint8_t *line, size_t n_bytes,
                   struct json_text *ret_text)
{
    *ret_text = {};
    reader->found = ret_text;
    reader->fault = JSON_TEXT_NO_FIELD;
    const error_code error = reader->read(line, n_bytes);
    if (error == SUCCESS)
        return reader->fault;
    *ret_text = {};
    switch (error) {
    case MEMALLOC: return -ENOMEM;
    case UTF8_ERROR: return JSON_TEXT_NO_UTF8;
    case STRING_ERROR: return JSON_TEXT_NO_ESCAPE;
    default: return JSON_TEXT_NO_OBJECT;
    }
}

void json_text_forget(struct json_text_reader *reader)
{
    reader->parser = ondemand::parser();
}
