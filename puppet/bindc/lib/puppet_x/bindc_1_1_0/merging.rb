# frozen_string_literal: true

module ::Puppet::Bindc_1_1_0
  # Puppet does not tell a function by which strategy it merges the answer, nor from which scope the lookup comes. An
  # entry with one location represents several entries, which bindq merges as Puppet would. So these modules are in
  # front of the methods of Puppet that know both.
  module Merging
    LOOKUP_KEY = 'bindc::lookup_key' unless const_defined?(:LOOKUP_KEY, false)
    DATA_HASH = 'bindc::data_hash' unless const_defined?(:DATA_HASH, false)

    # Reports whether a data provider of Puppet is an entry that represents several.
    def self.entry?(provider)
      [KeyEntry, HashEntry].any? { |kind| provider.is_a?(kind) } && provider.locations == [nil] &&
        [LOOKUP_KEY, DATA_HASH].include?(provider.function_name)
    end

    # Returns the strategy that the answer has to be merged by, nil for the first value. Puppet loads this file in the
    # middle of the first lookup of a process, that of lookup_options. Nothing was in front of that one: it is merged as
    # a hash.
    def self.asked(invocation)
      return invocation.instance_variable_get(:@bindc_merge) if invocation.instance_variable_defined?(:@bindc_merge)

      { 'strategy' => 'hash' } if yield
    end

    # Returns the strategy as bindq takes it; nil where nothing is merged.
    def self.strategy(merge)
      return if merge.nil? || merge.is_a?(::Puppet::Pops::FirstFoundStrategy)

      merge = ::Puppet::Pops::MergeStrategy.strategy(merge)
      name = merge.class.key.to_s
      { 'strategy' => name }.merge(merge.options || {}) unless %w[first default].include?(name)
    end

    # Tells the function the strategy, in the block.
    def self.tell(invocation, strategy)
      before = invocation.instance_variable_get(:@bindc_merge)
      invocation.instance_variable_set(:@bindc_merge, strategy)
      yield
    ensure
      invocation.instance_variable_set(:@bindc_merge, before)
    end

    # For entries of lookup_key. Puppet keeps what it has found, whatever the strategy and the scope were.
    module KeyEntry
      def unchecked_key_lookup(key, invocation, merge)
        return super unless function_name == LOOKUP_KEY && locations == [nil]

        kept = function_context(invocation, nil)
        kept.data_hash&.clear if kept.cached_value('place')&.move(invocation.scope)
        strategy = Merging.strategy(merge)
        kept.data_hash&.delete(key.root_key) if strategy
        begin
          Merging.tell(invocation, strategy) { super(key, invocation, nil) }
        ensure
          kept.data_hash&.delete(key.root_key) if strategy
        end
      end
    end

    # For entries of data_hash. An entry without locations merges, and any other has its first value at location 0.
    module HashEntry
      def unchecked_key_lookup(key, invocation, merge)
        return super unless function_name == DATA_HASH

        place = bindc_place(invocation)
        bindc_forget if place.move(invocation.scope)
        strategy = Merging.strategy(merge)
        return super if strategy && locations != [nil]
        return bindc_explained(place, key, strategy, invocation) if invocation.explainer

        bindc_value(place, key.root_key, strategy, invocation)
      end

      private

      def bindc_place(invocation)
        location = locations.first
        kept = function_context(invocation, location)
        place = kept.cached_value('place')
        return place if place

        data_hash(invocation, location) # calls the function
        kept.cached_value('place')
      end

      # Empties the hashes that Puppet keeps: other variables may mean other values.
      def bindc_forget
        locations.each { |location| @contexts[location]&.data_hash&.clear }
      end

      def bindc_value(place, key, strategy, invocation)
        throw :no_such_key if place.hidden?
        value = strategy ? place.merged(key, strategy, invocation) : place.first(key, invocation)
        throw :no_such_key if value.equal?(:not_found)
        value
      end

      def bindc_explained(place, key, strategy, invocation)
        root = key.root_key
        invocation.with(:data_provider, self) do
          found = false
          value = catch(:no_such_key) { bindc_value(place, root, strategy, invocation).tap { found = true } }
          place.explain(root, strategy).each { |line| invocation.report_text { line } } unless place.hidden?
          invocation.report_not_found(root) unless found
          throw :no_such_key unless found
          invocation.report_found(root, value)
        end
      end
    end

    # For hierarchies. The first questions are sent before Puppet reads hiera.yaml. Of one such entry: it represents several, and 'unique' would change the merged value again.
    module Hierarchy
      def config(invocation)
        Early.begin(invocation) unless @config
        super
      end

      def unchecked_key_lookup(key, invocation, merge)
        return super unless Merging.strategy(merge)

        entries = config(invocation).configured_data_providers(invocation, self)
        return super unless entries.length == 1 && Merging.entry?(entries.first)

        invocation.with(:data_provider, self) { entries.first.unchecked_key_lookup(key, invocation, merge) }
      end
    end

    ::Puppet::Pops::Lookup::LookupKeyFunctionProvider.prepend(KeyEntry)
    ::Puppet::Pops::Lookup::DataHashFunctionProvider.prepend(HashEntry)
    ::Puppet::Pops::Lookup::ConfiguredDataProvider.prepend(Hierarchy)
  end
end
