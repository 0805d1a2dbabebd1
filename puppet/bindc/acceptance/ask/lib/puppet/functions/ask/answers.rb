# frozen_string_literal: true

require 'json'

# For the acceptance tests: looks up a list of [KEY] or [KEY, MERGE] with the function lookup, and
# returns the results as one JSON text: [{"value": V} or {"none": true} or {"error": MESSAGE}, ...].
# Values are in Puppet's rich data format.
Puppet::Functions.create_function(:'ask::answers') do
  dispatch :answers do
    param 'Array', :questions
    return_type 'String'
  end

  def answers(questions)
    JSON.generate(questions.map { |key, merge| answer(key, merge) })
  end

  private

  def answer(key, merge)
    invocation = Puppet::Pops::Lookup::Invocation.new(closure_scope, {}, {}, nil)
    value = Puppet::Pops::Lookup.lookup(key, nil, :none, true, merge, invocation)
    value.equal?(:none) ? { 'none' => true } : { 'value' => data(value) }
  rescue Puppet::DataBinding::LookupError => e
    { 'error' => e.message }
  end

  def data(value)
    Puppet::Pops::Serialization::ToDataConverter.convert(value, rich_data: true)
  end
end
